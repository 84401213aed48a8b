#include "control/feed/session.h"

#include <utility>

namespace croft::control::feed {
namespace {

Message TakeNext(Session& session) {
  if (!session.urgent.empty()) {
    Message message = std::move(session.urgent.front());
    session.urgent.pop_front();
    return message;
  }
  if (session.delta != nullptr) {
    return session.delta->messages[session.delta_next++];
  }
  return session.snapshot != nullptr ? session.snapshot->Take() : nullptr;
}

}  // namespace

void StartDelta(Session& session, std::shared_ptr<const Delta> delta) {
  session.delta = std::move(delta);
  session.delta_next = 0;
  session.cut_due = false;
}

bool SendNext(Session& session, std::chrono::steady_clock::time_point now) {
  if (session.outstanding || session.state == SessionState::kClosed) {
    return false;
  }
  Message message = TakeNext(session);
  if (message == nullptr) {
    return false;
  }
  bool whole = false;
  if (session.delta != nullptr && session.delta_next == session.delta->messages.size()) {
    session.position = session.delta->to;
    session.delta.reset();
    whole = true;
  }
  session.outstanding = true;
  session.sent = now;
  session.transport->Send(std::move(message));
  return whole;
}

void ShowMarks(const Session& session, NodeMarksBook& marks) {
  LocalNode& local = marks.Edit(session.node);
  local.marks.applied_revision = session.of_this_history ? session.applied_revision : 0;
  local.marks.serving_revision = session.of_this_history ? session.serving_revision : 0;
}

void Close(Session& session, const absl::Status& status) {
  if (session.state != SessionState::kClosed) {
    session.state = SessionState::kClosed;
    session.urgent.clear();
    session.delta.reset();
    session.snapshot.reset();
    session.transport->Close(status);
  }
}

}  // namespace croft::control::feed
