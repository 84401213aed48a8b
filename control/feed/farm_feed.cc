#include "control/feed/farm_feed.h"

#include <limits>
#include <utility>

#include "proto/base/error.h"
#include "proto/base/log.h"

namespace croft::control::feed {
namespace {

// Deltas of single nodes read in one round, so that the synced ones do not wait for them.
constexpr int kCatchUpReads = 4;

bool IsRefused(const Session& session, const node::v1::Record& record) {
  const auto found = session.refused.find({record.type(), record.uid()});
  return found != session.refused.end() && !record.deleted() &&
         found->second.revision() == record.revision();
}

}  // namespace

absl::Status FarmFeed::Round(const store::FeedHead& head) {
  head_ = head;
  unfinished_ = false;
  if (const absl::Status status = ExtendLog(); !status.ok()) {
    return status;
  }
  for (const auto& [id, session] : sessions_) {
    if (const absl::Status status = Advance(*session); !status.ok()) {
      return status;
    }
  }
  return CatchUp();
}

absl::Status FarmFeed::ExtendLog() {
  if (!log_.started()) {
    log_.Start(head_.position);
    return absl::OkStatus();
  }
  if (SamePosition(head_.position, log_.head())) {
    return absl::OkStatus();
  }
  const auto read = ReadDelta(log_.head(), nullptr);
  if (!read.ok()) {
    return read.status();
  }
  if (!read->history_known) {
    DropHistory();
  } else if (read->delta == nullptr) {
    log_.Start(head_.position);
  } else if (!SamePosition(read->delta->to, log_.head())) {
    log_.Append(read->delta);
  }
  return absl::OkStatus();
}

absl::StatusOr<FarmFeed::ReadResult> FarmFeed::ReadDelta(const node::v1::Position& since,
                                                         const Session* for_session) {
  DeltaBuilder builder(since, context_.options);
  // What ends a snapshot may be of any size: another snapshot would not get further.
  const bool bounded = for_session == nullptr || !for_session->cut_due;
  const auto position =
      context_.store.ReadDelta(farm_uid_, since.revision(), [&](node::v1::Record record) {
        NoteNode(record);
        if (for_session == nullptr || !IsRefused(*for_session, record)) {
          builder.Add(std::move(record), bounded);
        }
      });
  ReadResult result;
  // Below the floor some tombstones are gone.
  const bool compacted = absl::IsOutOfRange(position.status());
  if (!position.ok() && !compacted) {
    return position.status();
  }
  // Only now: had the history changed before the read, it shows.
  const auto known = context_.store.KnowsPosition(since);
  if (!known.ok()) {
    return known.status();
  }
  result.history_known = *known;
  if (!compacted && !builder.too_large()) {
    result.delta = builder.Finish(*position);
  }
  return result;
}

void FarmFeed::NoteNode(const node::v1::Record& record) {
  if (record.type() != node::v1::NODE) {
    return;
  }
  v1::Node node;
  if (!record.deleted()) {
    if (node.ParseFromString(record.body())) {
      context_.marks.SetDraining(record.uid(), node.draining());
    }
    return;
  }
  for (const auto& [id, session] : sessions_) {
    if (session->node.node_uid == record.uid()) {
      Close(*session,
            Error(absl::StatusCode::kPermissionDenied, "node {} was deleted", session->node.node));
      context_.marks.Forget(record.uid());
    }
  }
}

void FarmFeed::DropHistory() {
  log::Warn("feed", "the database's history changed, nodes begin again",
            {{"rev", std::to_string(head_.position.revision())}});
  for (const auto& [id, session] : sessions_) {
    if (session->state != SessionState::kAwaitingHello) {
      Close(*session, Error(absl::StatusCode::kAborted, "the database's history changed"));
    }
  }
  log_ = FarmLog();
}

absl::Status FarmFeed::Advance(Session& session) {
  switch (session.state) {
    case SessionState::kAwaitingHello:
    case SessionState::kClosed:
      return absl::OkStatus();
    case SessionState::kDeciding:
      return Decide(session);
    case SessionState::kAhead:
      if (head_.position.epoch() == session.hello.position().epoch() &&
          head_.position.revision() < session.hello.position().revision()) {
        return absl::OkStatus();
      }
      return Decide(session);
    case SessionState::kNeedsSnapshot:
      if (context_.snapshots_running >= context_.options.snapshots_at_once) {
        return absl::OkStatus();
      }
      ++context_.snapshots_running;
      if (session.snapshot == nullptr) {
        session.snapshot = NewSnapshot(head_.position, std::nullopt);
      }
      session.state = SessionState::kSnapshot;
      return RunSnapshot(session);
    case SessionState::kSnapshot:
      return RunSnapshot(session);
    case SessionState::kCatchingUp:
    case SessionState::kSynced:
      return ChooseDelta(session);
  }
  return absl::OkStatus();
}

absl::Status FarmFeed::LoadNode(Session& session) {
  const auto row = context_.store.FindByUid(store::ResourceType::kNode, session.node.node_uid);
  if (!row.ok()) {
    return row.status();
  }
  if (!row->has_value() || (*row)->deleted) {
    Close(session,
          Error(absl::StatusCode::kPermissionDenied, "node {} was deleted", session.node.node));
    return absl::OkStatus();
  }
  v1::Node node;
  node.ParseFromString((*row)->body);
  context_.marks.SetDraining(session.node.node_uid, node.draining());
  if (session.refused.empty()) {
    return absl::OkStatus();
  }
  const auto marks = context_.store.ReadMarks(farm_uid_);
  if (!marks.ok()) {
    return marks.status();
  }
  for (const store::NodeMarks& mark : *marks) {
    v1::NodeStatus status;
    if (mark.node_uid == session.node.node_uid && status.ParseFromString(mark.status) &&
        status.version() != session.hello.version()) {
      // The new version may take what the old one refused.
      for (const auto& [id, refused] : session.refused) {
        session.retries.insert(id);
      }
    }
  }
  return absl::OkStatus();
}

absl::Status FarmFeed::Decide(Session& session) {
  const node::v1::Hello& hello = session.hello;
  const node::v1::Position& held = hello.position();
  if (const absl::Status status = LoadNode(session);
      !status.ok() || session.state == SessionState::kClosed) {
    return status;
  }
  if (held.epoch() == head_.position.epoch() && held.revision() > head_.position.revision()) {
    if (session.state != SessionState::kAhead) {
      log::Warn("feed", "node is ahead of the database, waiting",
                {{"node", session.node.node}, {"rev", std::to_string(held.revision())}});
      session.state = SessionState::kAhead;
      Welcome(session, node::v1::Welcome::AHEAD, false);
    }
    return absl::OkStatus();
  }
  bool known = false;
  bool whole = true;
  if (held.epoch() != 0) {
    const auto answer = context_.store.KnowsPosition(held);
    if (!answer.ok()) {
      return answer.status();
    }
    known = *answer;
  }
  if (known) {
    session.of_this_history = true;
    ShowMarks(session, context_.marks);
  }
  if (hello.has_partial_delta()) {
    const auto answer = context_.store.KnowsPosition(hello.partial_delta());
    if (!answer.ok()) {
      return answer.status();
    }
    whole = *answer;
  }
  if (hello.has_snapshot() || !known || !whole || held.revision() < head_.compaction_floor) {
    return DecideSnapshot(session, known);
  }
  session.position = held;
  session.cut_due = hello.has_partial_delta();
  session.state = SessionState::kCatchingUp;
  Welcome(session, node::v1::Welcome::DELTA, true);
  return ChooseDelta(session);
}

absl::Status FarmFeed::LoadAccepted(Session& session) {
  const auto marks = context_.store.ReadMarks(farm_uid_);
  if (!marks.ok()) {
    return marks.status();
  }
  for (const store::NodeMarks& mark : *marks) {
    if (mark.node_uid == session.node.node_uid) {
      session.accepted = mark.accepted;
    }
  }
  return absl::OkStatus();
}

absl::Status FarmFeed::DecideSnapshot(Session& session, bool known) {
  if (!known) {
    if (const absl::Status status = LoadAccepted(session); !status.ok()) {
      return status;
    }
  }
  BeginSnapshot(session, known);
  if (!session.hello.has_snapshot()) {
    return absl::OkStatus();
  }
  const node::v1::SnapshotRange& begun = session.hello.snapshot();
  const auto start = context_.store.KnowsPosition(begun.start());
  const auto seen = context_.store.KnowsPosition(begun.seen());
  if (!start.ok() || !seen.ok()) {
    return start.ok() ? seen.status() : start.status();
  }
  if (*start && *seen && begun.start().revision() >= head_.compaction_floor) {
    session.snapshot = NewSnapshot(begun.start(), begun);
  }
  return absl::OkStatus();
}

std::unique_ptr<SnapshotSource> FarmFeed::NewSnapshot(
    const node::v1::Position& start, const std::optional<node::v1::SnapshotRange>& resume) {
  return std::make_unique<SnapshotSource>(farm_uid_, context_.options, start, resume);
}

absl::Status FarmFeed::RunSnapshot(Session& session) {
  const absl::Status filled = session.snapshot->Fill(context_.store);
  if (absl::IsAborted(filled)) {
    DropHistory();
    return absl::OkStatus();
  }
  if (!filled.ok() || !session.snapshot->finished()) {
    return filled;
  }
  session.position = session.snapshot->start();
  session.snapshot.reset();
  session.cut_due = true;
  session.state = SessionState::kCatchingUp;
  return ChooseDelta(session);
}

absl::Status FarmFeed::ChooseDelta(Session& session) {
  if (session.delta != nullptr) {
    return absl::OkStatus();
  }
  if (!session.cut_due && session.position.revision() >= log_.head().revision()) {
    session.state = SessionState::kSynced;
    return SendRetries(session);
  }
  auto delta = session.cut_due ? nullptr : log_.FindAfter(session.position.revision());
  const bool repeats = delta != nullptr && delta->from.revision() < session.position.revision();
  if (delta == nullptr || (repeats && !session.refused.empty())) {
    session.state = SessionState::kCatchingUp;
    return absl::OkStatus();
  }
  session.state = SessionState::kSynced;
  StartDelta(session, std::move(delta));
  return absl::OkStatus();
}

absl::Status FarmFeed::SendRetries(Session& session) {
  if (session.retries.empty()) {
    return absl::OkStatus();
  }
  DeltaBuilder builder(session.position, context_.options);
  for (const auto& [type, uid] : session.retries) {
    auto records = context_.store.ReadSnapshotChunk(farm_uid_, type, uid - 1, 1);
    if (!records.ok()) {
      return records.status();
    }
    // What changed since comes with its delta.
    if (!records->empty() && records->front().uid() == uid &&
        records->front().revision() <= session.position.revision()) {
      builder.Add(std::move(records->front()), false);
    }
  }
  session.retries.clear();
  StartDelta(session, builder.Finish(session.position));
  return absl::OkStatus();
}

absl::Status FarmFeed::CatchUp() {
  // Nodes at the same position share a read, unless one has a quarantine to leave out.
  std::map<std::int64_t, std::shared_ptr<const Delta>> shared;
  int reads = 0;
  for (const auto& [id, session] : sessions_) {
    if (session->state != SessionState::kCatchingUp || session->delta != nullptr) {
      continue;
    }
    const bool shareable = session->refused.empty() && !session->cut_due;
    const std::int64_t since = session->position.revision();
    if (const auto found = shared.find(since); shareable && found != shared.end()) {
      StartDelta(*session, found->second);
      continue;
    }
    if (reads == kCatchUpReads) {
      unfinished_ = true;
      continue;
    }
    ++reads;
    auto read = ReadDelta(session->position, session);
    if (!read.ok()) {
      return read.status();
    }
    if (!read->history_known) {
      DropHistory();
      return absl::OkStatus();
    }
    if (read->delta == nullptr) {
      BeginSnapshot(*session, true);
      unfinished_ = true;
      continue;
    }
    if (shareable) {
      shared[since] = read->delta;
    }
    StartDelta(*session, std::move(read->delta));
  }
  return absl::OkStatus();
}

void FarmFeed::Welcome(Session& session, node::v1::Welcome::Mode mode, bool known_history) {
  node::v1::ControlMessage message;
  node::v1::Welcome& welcome = *message.mutable_welcome();
  welcome.set_mode(mode);
  welcome.set_epoch(head_.position.epoch());
  welcome.set_node_uid(session.node.node_uid);
  welcome.set_report_interval_ms(context_.options.report_interval.count());
  welcome.set_known_history(known_history);
  *welcome.mutable_accepted_vanishing() = session.accepted;
  session.urgent.push_back(Serialize(message));
  session.welcomed = true;
}

void FarmFeed::BeginSnapshot(Session& session, bool known_history) {
  session.state = SessionState::kNeedsSnapshot;
  session.delta.reset();
  session.snapshot.reset();
  session.cut_due = false;
  Welcome(session, node::v1::Welcome::SNAPSHOT, known_history);
}

}  // namespace croft::control::feed
