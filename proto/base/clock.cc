#include "proto/base/clock.h"

namespace croft {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::chrono::system_clock::time_point SystemClock::Now() const {
  return std::chrono::system_clock::now();
}

std::chrono::steady_clock::time_point SystemClock::Monotonic() const {
  return std::chrono::steady_clock::now();
}

std::chrono::system_clock::time_point FakeClock::Now() const {
  constexpr seconds kStart{1'700'000'000};
  return std::chrono::system_clock::time_point(kStart + milliseconds(elapsed_ms_.load()));
}

std::chrono::steady_clock::time_point FakeClock::Monotonic() const {
  return std::chrono::steady_clock::time_point(milliseconds(elapsed_ms_.load()));
}

void FakeClock::Advance(milliseconds by) { elapsed_ms_ += by.count(); }

std::int64_t UnixMillis(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count();
}

}  // namespace croft
