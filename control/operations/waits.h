// Answers those who wait for the end of an operation, whichever instance carries it on, from a
// thread of its own that looks at the store while anybody waits. Thread-safe.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "control/store/store.h"
#include "proto/base/clock.h"

namespace croft::control::operations {

class Waits {
 public:
  // Called once, on the thread of the waits; it may block on the store for a moment.
  using Done = std::function<void(absl::StatusOr<store::StoredOperation>)>;

  static constexpr std::size_t kWaitingMax = 4096;

  Waits(store::Store& store, const Clock& clock);

  // Answers when it has ended, or after the time with what it is by then. resource_exhausted, and
  // `done` is not called, when too many wait.
  absl::Status Add(std::int64_t uid, std::chrono::milliseconds at_most, Done done);
  // One has just ended.
  void Look();

 private:
  struct Waiting {
    std::int64_t uid = 0;
    std::chrono::steady_clock::time_point deadline;
    Done done;
  };

  void Run(const std::stop_token& stop);
  // Answers who need wait no longer; returns the others.
  std::vector<Waiting> AnswerDecided(std::vector<Waiting> waiting);

  store::Store& store_;
  const Clock& clock_;

  std::mutex mutex_;  // protects the two below
  std::vector<Waiting> waiting_;
  bool look_ = false;
  std::condition_variable_any changed_;

  std::jthread thread_;  // last: it uses all above
};

}  // namespace croft::control::operations
