#include "node/listener/site_cache.h"

#include <utility>

namespace croft::node::listener {

std::shared_ptr<const contract::ResolvedSite> SiteCache::FindSite(std::int64_t uid) {
  const auto found = sites_.find(uid);
  if (found == sites_.end()) {
    return nullptr;
  }
  order_.splice(order_.begin(), order_, found->second);
  return found->second->site;
}

void SiteCache::PutSite(std::shared_ptr<const contract::ResolvedSite> site, std::size_t bytes) {
  const std::int64_t uid = site->uid;
  if (const auto found = sites_.find(uid); found != sites_.end()) {
    Erase(found->second);
  }
  order_.push_front({std::move(site), bytes});
  sites_[uid] = order_.begin();
  bytes_ += bytes;
  while (bytes_ > bytes_max_ && order_.size() > 1) {
    Erase(std::prev(order_.end()));
  }
}

void SiteCache::Erase(Order::iterator entry) {
  bytes_ -= entry->bytes;
  sites_.erase(entry->site->uid);
  order_.erase(entry);
}

std::optional<std::int64_t> SiteCache::FindBinding(std::string_view encoded_key) const {
  const auto found = bindings_.find(encoded_key);
  if (found == bindings_.end()) {
    return std::nullopt;
  }
  return found->second;
}

void SiteCache::PutBinding(std::string_view encoded_key, std::int64_t site_uid) {
  if (bindings_.size() >= bindings_max_) {
    bindings_.clear();  // visitors can ask for any number of hosts
  }
  bindings_.emplace(encoded_key, site_uid);
}

void SiteCache::DropSite(std::int64_t uid) {
  if (const auto found = sites_.find(uid); found != sites_.end()) {
    Erase(found->second);
  }
  bindings_.clear();
}

void SiteCache::Clear() {
  order_.clear();
  sites_.clear();
  bindings_.clear();
  bytes_ = 0;
}

}  // namespace croft::node::listener
