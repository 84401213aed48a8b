// One farm's nodes and its log. A round compares what each node holds with what the store has and
// puts the difference on its way; it may be repeated at any time and stopped by any error of the
// store. Feed thread only.
#pragma once

#include <absl/status/status.h>

#include <map>
#include <memory>
#include <vector>

#include "control/feed/farm_log.h"
#include "control/feed/node_marks.h"
#include "control/feed/session.h"
#include "control/store/store.h"

namespace croft::control::feed {

// What all farms share.
struct FeedContext {
  store::Store& store;
  const FeedOptions options;
  NodeMarksBook& marks;
  int snapshots_running = 0;  // counted before each round
};

class FarmFeed {
 public:
  FarmFeed(std::int64_t farm_uid, FeedContext& context) : farm_uid_(farm_uid), context_(context) {}

  void Add(Session& session) { sessions_[session.id] = &session; }
  void Remove(const Session& session) { sessions_.erase(session.id); }
  bool empty() const { return sessions_.empty(); }

  absl::Status Round(const store::FeedHead& head);
  // The round left work that needs no event to go on.
  bool unfinished() const { return unfinished_; }

 private:
  struct ReadResult {
    std::shared_ptr<const Delta> delta;  // null if only a snapshot helps: too large, or compacted
    bool history_known = false;
  };

  // Extends the log to the store's head.
  absl::Status ExtendLog();
  // Reads all changes after `since`; `skip` are refused records, not to be sent again.
  absl::StatusOr<ReadResult> ReadDelta(const node::v1::Position& since, const Session* for_session);

  absl::Status Advance(Session& session);
  // What a node that has just said hello, or waited ahead of the store, lacks.
  absl::Status Decide(Session& session);
  absl::Status DecideSnapshot(Session& session, bool known);
  absl::Status LoadNode(Session& session);
  absl::Status LoadAccepted(Session& session);
  std::unique_ptr<SnapshotSource> NewSnapshot(const node::v1::Position& start,
                                              const std::optional<node::v1::SnapshotRange>& resume);
  absl::Status RunSnapshot(Session& session);
  absl::Status ChooseDelta(Session& session);
  absl::Status SendRetries(Session& session);
  absl::Status CatchUp();

  void Welcome(Session& session, node::v1::Welcome::Mode mode, bool known_history);
  void BeginSnapshot(Session& session, bool known_history);
  // Every node says hello again and is looked at afresh.
  void DropHistory();
  void NoteNode(const node::v1::Record& record);

  const std::int64_t farm_uid_;
  FeedContext& context_;
  std::map<Feed::SessionId, Session*> sessions_;
  FarmLog log_;
  store::FeedHead head_;
  bool unfinished_ = false;
};

}  // namespace croft::control::feed
