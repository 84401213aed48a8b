// The marks of every node: those connected here as they are now, the others as their instance last
// wrote them. Feed thread only.
#pragma once

#include <absl/status/status.h>

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/feed/delta.h"
#include "control/feed/feed.h"
#include "control/store/store.h"
#include "croft/v1/node.pb.h"

namespace croft::control::feed {

// A node connected here, as far as others may want to know.
struct LocalNode {
  store::NodeMarks marks;
  std::map<RecordId, node::v1::RecordResult> refused;
  std::string problem;
  std::string version;
  std::vector<std::string> endpoints;
  std::vector<v1::MissingEndpoint> missing;
  std::optional<v1::VanishingSites> vanishing;
  std::chrono::steady_clock::time_point written;
};

// One node, wherever it is connected.
struct NodeRow {
  store::NodeMarks marks;
  v1::NodeStatus status;
};

class NodeMarksBook {
 public:
  NodeMarksBook(store::Store& store, const Clock& clock, const FeedOptions& options)
      : store_(store), clock_(clock), options_(options) {}

  // For changing; makes it known at the next flush.
  LocalNode& Edit(const NodeIdentity& node);
  // A message came; made known once per heartbeat interval.
  void Touch(std::int64_t node_uid);
  // The node is connected here no longer.
  void Leave(std::int64_t node_uid);
  // The node was deleted.
  void Forget(std::int64_t node_uid);
  void SetDraining(std::int64_t node_uid, bool draining);

  // Writes what changed, in one statement, at most every marks_interval. What could not be written
  // is tried again.
  absl::Status Flush();
  bool pending() const { return !changed_.empty() || !leaving_.empty(); }
  // The farm's nodes (0: all), at most marks_interval old for those connected elsewhere.
  absl::StatusOr<std::vector<NodeRow>> List(std::int64_t farm_uid);

 private:
  v1::NodeStatus MakeStatus(const LocalNode& node);
  // A resource's name, or "SITE 17".
  std::string NameOf(const RecordId& id);
  // Drops from `leaving_` what another instance has taken over meanwhile.
  absl::Status DropTakenOver();

  store::Store& store_;
  const Clock& clock_;
  const FeedOptions options_;

  std::map<std::int64_t, LocalNode> local_;
  std::set<std::int64_t> changed_;
  std::map<std::int64_t, LocalNode> leaving_;  // to be written as not connected
  // What nodes had told last when they left: shown when they are back, until their first marks, so
  // that a node which asks again and again has its problem all the time.
  std::map<std::int64_t, std::string> problems_;
  std::map<RecordId, std::string> names_;
  std::chrono::steady_clock::time_point flushed_;

  std::vector<store::NodeMarks> rows_;
  bool rows_read_ = false;
  std::chrono::steady_clock::time_point rows_at_;
};

}  // namespace croft::control::feed
