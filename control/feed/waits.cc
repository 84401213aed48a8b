#include "control/feed/waits.h"

#include <utility>

namespace croft::control::feed {
namespace {

const v1::QuarantinedRecord* FindRefused(const v1::NodeStatus& status, std::int64_t revision) {
  for (const v1::QuarantinedRecord& record : status.quarantine()) {
    if (record.revision() == revision) {
      return &record;
    }
  }
  return nullptr;
}

bool IsRefused(const v1::WaitForRevisionResponse& response) {
  for (const v1::NodeProgress& node : response.nodes()) {
    if (node.outcome() == v1::NodeProgress::REFUSED) {
      return true;
    }
  }
  return false;
}

}  // namespace

v1::WaitForRevisionResponse JudgeProgress(const v1::WaitForRevisionRequest& request,
                                          const std::vector<NodeRow>& nodes) {
  v1::WaitForRevisionResponse response;
  response.set_reached(true);
  if (request.level() == v1::ACCEPTED || request.level() == v1::WAIT_LEVEL_UNSPECIFIED) {
    return response;
  }
  for (const NodeRow& node : nodes) {
    v1::NodeProgress& progress = *response.add_nodes();
    progress.set_node(node.marks.node);
    progress.set_revision(request.level() == v1::SERVING ? node.marks.serving_revision
                                                         : node.marks.applied_revision);
    const v1::QuarantinedRecord* refused = node.marks.applied_revision >= request.revision()
                                               ? FindRefused(node.status, request.revision())
                                               : nullptr;
    if (!node.marks.connected) {
      progress.set_outcome(v1::NodeProgress::NOT_CONNECTED);
    } else if (node.marks.draining) {
      progress.set_outcome(v1::NodeProgress::NODE_DRAINING);
    } else if (refused != nullptr) {
      progress.set_outcome(v1::NodeProgress::REFUSED);
      progress.set_reason(refused->resource() + ": " + refused->reason());
      response.set_reached(false);
    } else if (progress.revision() >= request.revision()) {
      progress.set_outcome(v1::NodeProgress::REACHED);
    } else {
      progress.set_outcome(v1::NodeProgress::BEHIND);
      progress.set_reason(node.status.problem());
      response.set_reached(false);
    }
  }
  return response;
}

void Waits::Answer(NodeMarksBook& marks) {
  const auto now = clock_.Monotonic();
  std::vector<PendingWait> still;
  // A callback may ask for another wait.
  for (PendingWait& wait : std::exchange(pending_, {})) {
    const bool due = now >= wait.deadline;
    const auto nodes = marks.List(wait.farm_uid);
    if (!nodes.ok() && !due) {
      still.push_back(std::move(wait));
      continue;
    }
    const v1::WaitForRevisionResponse response =
        nodes.ok() ? JudgeProgress(wait.request, *nodes) : v1::WaitForRevisionResponse();
    if (response.reached() || IsRefused(response) || due) {
      wait.done(response);
    } else {
      still.push_back(std::move(wait));
    }
  }
  for (PendingWait& wait : still) {
    pending_.push_back(std::move(wait));
  }
}

}  // namespace croft::control::feed
