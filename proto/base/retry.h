// How long to wait before trying again.
#pragma once

#include <chrono>

namespace croft {

struct BackoffLimits {
  std::chrono::milliseconds first{100};
  std::chrono::milliseconds most{30'000};
};

// Doubles from `first` to `most`, each wait drawn evenly from its upper half, so that a herd
// spreads. Not thread-safe.
class Backoff {
 public:
  explicit Backoff(BackoffLimits limits) : limits_(limits), next_(limits.first) {}
  std::chrono::milliseconds Next();
  void Reset() { next_ = limits_.first; }

 private:
  BackoffLimits limits_;
  std::chrono::milliseconds next_;
};

}  // namespace croft
