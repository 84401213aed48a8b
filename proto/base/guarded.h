// Guarded<T>: data reachable only through its lock. No callback, I/O, log flush or gRPC call while
// holding one.
#pragma once

#include <mutex>
#include <utility>

namespace croft {

template <typename T>
class Guarded {
 public:
  class Access {
   public:
    T* operator->() { return &value_; }
    T& operator*() { return value_; }

   private:
    friend class Guarded;
    Access(std::mutex& mutex, T& value) : lock_(mutex), value_(value) {}
    std::unique_lock<std::mutex> lock_;
    T& value_;
  };

  Guarded() = default;
  template <typename... Args>
  explicit Guarded(std::in_place_t, Args&&... args) : value_(std::forward<Args>(args)...) {}

  // Holds the lock until the Access goes.
  [[nodiscard]] Access Lock() { return Access(mutex_, value_); }

 private:
  std::mutex mutex_;
  T value_;
};

}  // namespace croft
