// Keeps one URL from killing worker after worker: a URL that was in flight at the deaths of two
// workers is refused for five minutes. Many are in flight when a worker dies, so a URL that is
// served well afterwards is cleared. Thread-safe; one atomic load while nobody is suspected.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace croft::node::listener {

class CrashGuard {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::minutes kRefusedFor{5};
  static constexpr std::size_t kUrlsMax = 1024;
  static constexpr int kDeaths = 2;

  bool Refuses(std::int64_t site_uid, std::string_view path, TimePoint now);
  // The worker died while serving it; true when this makes the URL refused.
  bool OnDeath(std::int64_t site_uid, std::string_view path, std::uint64_t process_id,
               TimePoint now);
  // A worker answered it.
  void OnServed(std::int64_t site_uid, std::string_view path) {
    if (suspects_.load(std::memory_order_relaxed) != 0) {
      Clear(site_uid, path);
    }
  }

 private:
  struct Suspect {
    std::uint64_t process_id = 0;  // whose death was counted last
    int deaths = 0;
    TimePoint last;
  };
  using Url = std::pair<std::int64_t, std::string>;

  void Clear(std::int64_t site_uid, std::string_view path);
  void MakeRoom(TimePoint now);

  std::atomic<std::size_t> suspects_{0};
  std::mutex mutex_;
  std::map<Url, Suspect> urls_;
};

}  // namespace croft::node::listener
