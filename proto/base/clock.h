// Time, as a seam: code that decides by time takes a Clock, so that a test can turn it.
#pragma once

#include <atomic>
#include <chrono>

namespace croft {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // Wall clock, for people and certificates; may jump.
  virtual std::chrono::system_clock::time_point Now() const = 0;
  // Never jumps; for every deadline and interval.
  virtual std::chrono::steady_clock::time_point Monotonic() const = 0;
};

class SystemClock final : public Clock {
 public:
  std::chrono::system_clock::time_point Now() const override;
  std::chrono::steady_clock::time_point Monotonic() const override;
};

// Stands still until told; for tests and the simulation.
class FakeClock final : public Clock {
 public:
  std::chrono::system_clock::time_point Now() const override;
  std::chrono::steady_clock::time_point Monotonic() const override;
  void Advance(std::chrono::milliseconds by);

 private:
  std::atomic<std::int64_t> elapsed_ms_{0};
};

// Milliseconds since 1970-01-01 UTC.
std::int64_t UnixMillis(std::chrono::system_clock::time_point time);

}  // namespace croft
