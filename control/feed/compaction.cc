#include "control/feed/compaction.h"

namespace croft::control::feed {

absl::Status Compaction::RunIfDue(const store::FeedHead& head) {
  if (clock_.Monotonic() < next_) {
    return absl::OkStatus();
  }
  next_ = clock_.Monotonic() + kInterval;
  const std::int64_t through = head.position.revision() - options_.keep_revisions;
  if (through <= head.compaction_floor) {
    return absl::OkStatus();
  }
  const auto newest = store_.ListChanges(through + 1, 1, {});
  if (!newest.ok() || newest->empty()) {
    return newest.status();
  }
  const std::chrono::seconds made(newest->front().time().seconds());
  if (clock_.Now().time_since_epoch() - made < options_.keep_time) {
    return absl::OkStatus();
  }
  return store_.Compact(through);
}

}  // namespace croft::control::feed
