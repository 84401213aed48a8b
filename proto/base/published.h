// Published<T>: a value replaced as a whole and read often. Readers keep a Reader per thread, which
// takes the lock only when a new value was published; the hot path is one atomic load.
// (std::atomic<shared_ptr> races inside libstdc++ 12 according to TSan.)
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace croft {

template <typename T>
class Published {
 public:
  explicit Published(std::shared_ptr<const T> value) : value_(std::move(value)) {}

  void Publish(std::shared_ptr<const T> value) {
    const std::lock_guard lock(mutex_);
    value_.swap(value);
    generation_.fetch_add(1, std::memory_order_release);
  }

  std::shared_ptr<const T> Get() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }

  // One thread only.
  class Reader {
   public:
    explicit Reader(const Published& source) : source_(source) {}
    // Valid until the next call.
    const std::shared_ptr<const T>& Get() {
      const std::uint64_t now = source_.generation_.load(std::memory_order_acquire);
      if (now != seen_) {
        value_ = source_.Get();
        seen_ = now;
      }
      return value_;
    }

   private:
    const Published& source_;
    std::uint64_t seen_ = 0;
    std::shared_ptr<const T> value_;
  };

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
  std::atomic<std::uint64_t> generation_{1};
};

}  // namespace croft
