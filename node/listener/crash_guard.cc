#include "node/listener/crash_guard.h"

#include <algorithm>

namespace croft::node::listener {

bool CrashGuard::Refuses(std::int64_t site_uid, std::string_view path, TimePoint now) {
  if (suspects_.load(std::memory_order_relaxed) == 0) {
    return false;
  }
  const std::lock_guard lock(mutex_);
  const auto found = urls_.find({site_uid, std::string(path)});
  if (found == urls_.end()) {
    return false;
  }
  if (now - found->second.last >= kRefusedFor) {
    urls_.erase(found);
    suspects_ = urls_.size();
    return false;
  }
  return found->second.deaths >= kDeaths;
}

bool CrashGuard::OnDeath(std::int64_t site_uid, std::string_view path, std::uint64_t process_id,
                         TimePoint now) {
  const std::lock_guard lock(mutex_);
  Url url{site_uid, std::string(path)};
  if (urls_.size() >= kUrlsMax && !urls_.contains(url)) {
    MakeRoom(now);
  }
  Suspect& suspect = urls_[std::move(url)];
  suspects_ = urls_.size();
  if (suspect.deaths > 0 && suspect.process_id == process_id) {
    return false;  // several requests of one death
  }
  if (now - suspect.last >= kRefusedFor) {
    suspect.deaths = 0;
  }
  suspect.process_id = process_id;
  suspect.last = now;
  return ++suspect.deaths == kDeaths;
}

void CrashGuard::Clear(std::int64_t site_uid, std::string_view path) {
  const std::lock_guard lock(mutex_);
  const auto found = urls_.find({site_uid, std::string(path)});
  if (found != urls_.end() && found->second.deaths < kDeaths) {
    urls_.erase(found);
    suspects_ = urls_.size();
  }
}

void CrashGuard::MakeRoom(TimePoint now) {
  std::erase_if(urls_, [&](const auto& url) { return now - url.second.last >= kRefusedFor; });
  if (urls_.size() >= kUrlsMax) {
    urls_.erase(std::min_element(urls_.begin(), urls_.end(), [](const auto& a, const auto& b) {
      return a.second.last < b.second.last;
    }));
  }
}

}  // namespace croft::node::listener
