// Answers waits for a revision from the nodes' marks. Feed thread only.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "control/feed/node_marks.h"
#include "control/store/store.h"
#include "croft/v1/change.pb.h"
#include "croft/v1/site.pb.h"
#include "proto/base/clock.h"

namespace croft::control::feed {

struct PendingWait {
  v1::WaitForRevisionRequest request;
  std::int64_t farm_uid = 0;
  std::chrono::steady_clock::time_point deadline;
  std::function<void(v1::WaitForRevisionResponse)> done;
  // The sites that the revision wrote and that are to be served; read once somebody needs them.
  std::optional<std::vector<v1::Site>> sites;
};

// How far each node is. A node that draws no request (lost, draining) is listed, not awaited; one
// that refused a record of the very revision fails the wait, and so does one that serves it but
// cannot listen where one of its `sites` is bound.
v1::WaitForRevisionResponse JudgeProgress(const v1::WaitForRevisionRequest& request,
                                          const std::vector<NodeRow>& nodes,
                                          const std::vector<v1::Site>& sites);

class Waits {
 public:
  Waits(store::Store& store, const Clock& clock) : store_(store), clock_(clock) {}

  void Add(PendingWait wait) { pending_.push_back(std::move(wait)); }
  bool empty() const { return pending_.empty(); }
  // Answers those that are decided or due.
  void Answer(NodeMarksBook& marks);

 private:
  absl::StatusOr<v1::WaitForRevisionResponse> Judge(PendingWait& wait, NodeMarksBook& marks);

  store::Store& store_;
  const Clock& clock_;
  std::vector<PendingWait> pending_;
};

}  // namespace croft::control::feed
