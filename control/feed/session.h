// One node's stream: what it holds, what is on its way to it, what is due. Never more than one
// message outstanding; what waits is shared with other sessions or read on demand, so that a slow
// node costs nothing. Feed thread only.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <set>

#include "control/feed/delta.h"
#include "control/feed/feed.h"
#include "control/feed/node_marks.h"
#include "control/feed/snapshot_source.h"

namespace croft::control::feed {

enum class SessionState {
  kAwaitingHello,
  kDeciding,       // said hello; the store is to be asked what it lacks
  kAhead,          // holds a later revision of this history than the store: waits
  kNeedsSnapshot,  // waits for admission
  kSnapshot,
  kCatchingUp,  // lacks more than the farm's log holds: a delta of its own
  kSynced,      // fed from the farm's log
  kClosed,      // the transport was told to close
};

struct Session {
  Feed::SessionId id = 0;
  NodeIdentity node;
  std::shared_ptr<Transport> transport;

  SessionState state = SessionState::kAwaitingHello;
  node::v1::Hello hello;
  // What the node holds once all that was handed over has arrived.
  node::v1::Position position;
  // The replica is between two revisions: a cut is due even if nothing changed since, and not one
  // that the log made before what the node has already seen.
  bool cut_due = false;
  bool welcomed = false;
  // What an operator lets vanish from it.
  v1::VanishingSites accepted;

  // What the node says of itself. Its revisions mean something here only once it is known to be of
  // this history: until then it has applied and serves nothing that anyone waits for.
  bool of_this_history = false;
  std::int64_t applied_revision = 0;
  std::int64_t serving_revision = 0;

  // On its way, in this order.
  bool outstanding = false;
  std::deque<Message> urgent;  // at most a welcome and a heartbeat
  std::shared_ptr<const Delta> delta;
  std::size_t delta_next = 0;
  std::unique_ptr<SnapshotSource> snapshot;

  // The node's quarantine, and what of it is to be sent once more.
  std::map<RecordId, node::v1::RecordResult> refused;
  std::set<RecordId> retries;

  // Something could be handed over, or read, at once.
  bool HasWork() const {
    return !outstanding && state != SessionState::kClosed &&
           (!urgent.empty() || delta != nullptr || state == SessionState::kSnapshot);
  }

  std::chrono::steady_clock::time_point heard;
  std::chrono::steady_clock::time_point sent;
};

// Puts the delta on its way.
void StartDelta(Session& session, std::shared_ptr<const Delta> delta);

// Hands over the next message if there is one and none is outstanding. Returns whether a delta was
// handed over to its end.
bool SendNext(Session& session, std::chrono::steady_clock::time_point now);

// Makes the node's marks known as far as they count.
void ShowMarks(const Session& session, NodeMarksBook& marks);

// Ends the stream from our side, once.
void Close(Session& session, const absl::Status& status);

}  // namespace croft::control::feed
