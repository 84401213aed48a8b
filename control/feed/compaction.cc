#include "control/feed/compaction.h"

namespace croft::control::feed {

absl::Status Compaction::RunIfDue() {
  if (clock_.Monotonic() < next_) {
    return absl::OkStatus();
  }
  next_ = clock_.Monotonic() + kInterval;
  return store_.Compact(clock_.Now() - options_.keep_deleted);
}

}  // namespace croft::control::feed
