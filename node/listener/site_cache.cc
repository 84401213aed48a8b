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
    ClearBindings();  // visitors can ask for any number of hosts
  }
  if (bindings_.emplace(encoded_key, site_uid).second && site_uid != 0) {
    keys_of_sites_[site_uid].emplace_back(encoded_key);
  }
}

// A key whose site has lost it may stay in keys_of_sites_: dropping it twice does no harm.
void SiteCache::DropBinding(std::string_view encoded_key) {
  if (const auto found = bindings_.find(encoded_key); found != bindings_.end()) {
    bindings_.erase(found);
  }
}

void SiteCache::ClearBindings() {
  bindings_.clear();
  keys_of_sites_.clear();
}

void SiteCache::DropSite(std::int64_t uid) {
  if (const auto found = sites_.find(uid); found != sites_.end()) {
    Erase(found->second);
  }
  if (const auto keys = keys_of_sites_.find(uid); keys != keys_of_sites_.end()) {
    for (const std::string& key : keys->second) {
      DropBinding(key);
    }
    keys_of_sites_.erase(keys);
  }
}

void SiteCache::Clear() {
  order_.clear();
  sites_.clear();
  ClearBindings();
  bytes_ = 0;
}

}  // namespace croft::node::listener
