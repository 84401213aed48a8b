// Answers waits for a revision from the nodes' marks. Feed thread only.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "control/feed/node_marks.h"
#include "croft/v1/change.pb.h"
#include "proto/base/clock.h"

namespace croft::control::feed {

struct PendingWait {
  v1::WaitForRevisionRequest request;
  std::int64_t farm_uid = 0;
  std::chrono::steady_clock::time_point deadline;
  std::function<void(v1::WaitForRevisionResponse)> done;
};

// How far each node is. A node that draws no request (lost, draining) is listed, not awaited; one
// that refused a record of the very revision fails the wait.
v1::WaitForRevisionResponse JudgeProgress(const v1::WaitForRevisionRequest& request,
                                          const std::vector<NodeRow>& nodes);

class Waits {
 public:
  explicit Waits(const Clock& clock) : clock_(clock) {}

  void Add(PendingWait wait) { pending_.push_back(std::move(wait)); }
  bool empty() const { return pending_.empty(); }
  // Answers those that are decided or due.
  void Answer(NodeMarksBook& marks);

 private:
  const Clock& clock_;
  std::vector<PendingWait> pending_;
};

}  // namespace croft::control::feed
