// Decides when a stream's reactor calls Finish: once, after the stream was told to end, and not
// while an operation is under way that will touch the stream again (a write, work on the executor).
// Thread-safe.
#pragma once

#include <absl/status/status.h>

#include <mutex>
#include <optional>

namespace croft::control::api {

class StreamEnd {
 public:
  // Begins an operation. False when the stream is ending: it must not be begun.
  [[nodiscard]] bool Begin() {
    const std::lock_guard lock(mutex_);
    operations_ += ending_.has_value() ? 0 : 1;
    return !ending_.has_value();
  }

  // The operation is over. A status means: finish with it now.
  [[nodiscard]] std::optional<absl::Status> Complete() {
    const std::lock_guard lock(mutex_);
    --operations_;
    return TakeIfIdle();
  }

  // Ends the stream; the first status counts. As Complete.
  [[nodiscard]] std::optional<absl::Status> End(const absl::Status& status) {
    const std::lock_guard lock(mutex_);
    if (!ending_.has_value()) {
      ending_ = status;
    }
    return TakeIfIdle();
  }

 private:
  // REQUIRES: the lock is held.
  std::optional<absl::Status> TakeIfIdle() {
    if (operations_ > 0 || finished_ || !ending_.has_value()) {
      return std::nullopt;
    }
    finished_ = true;
    return ending_;
  }

  std::mutex mutex_;  // protects all below
  int operations_ = 0;
  bool finished_ = false;
  std::optional<absl::Status> ending_;
};

}  // namespace croft::control::api
