#include "control/feed/feed_loop.h"

#include <algorithm>
#include <utility>

#include "proto/base/error.h"
#include "proto/base/log.h"

namespace croft::control::feed {
namespace {

using std::chrono::milliseconds;

// A notification may be lost with its connection; the store is asked so often even so.
constexpr milliseconds kLookInterval{1000};
constexpr milliseconds kRetryInterval{200};
constexpr milliseconds kWaitDefault{30'000};
// Heartbeats that may be missed before a node counts as lost.
constexpr int kSilentHeartbeats = 4;

}  // namespace

FeedLoop::FeedLoop(store::Store& store, const Clock& clock, const FeedOptions& options,
                   ReportSink on_report)
    : store_(store),
      clock_(clock),
      options_(options),
      on_report_(std::move(on_report)),
      marks_(store, clock, options),
      context_{store, options, marks_, 0},
      waits_(store, clock),
      compaction_(store, clock, options) {}

Feed::SessionId FeedLoop::OnOpened(const NodeIdentity& node, std::shared_ptr<Transport> transport) {
  const SessionId id = ++last_session_;
  inbox_.Push(StreamOpened{id, node, std::move(transport)});
  return id;
}

void FeedLoop::OnMessage(SessionId session, node::v1::NodeMessage message) {
  inbox_.Push(MessageReceived{session, std::move(message)});
}

void FeedLoop::OnSent(SessionId session) { inbox_.Push(MessageSent{session}); }

void FeedLoop::OnClosed(SessionId session) { inbox_.Push(StreamClosed{session}); }

void FeedLoop::OnNotify() { inbox_.Push(StoreChanged{}); }

void FeedLoop::RetryRecord(std::int64_t node_uid, node::v1::RecordKey key) {
  inbox_.Push(RetryAsked{node_uid, std::move(key)});
}

void FeedLoop::Wait(const v1::WaitForRevisionRequest& request, std::int64_t farm_uid,
                    std::function<void(v1::WaitForRevisionResponse)> done) {
  const milliseconds timeout =
      request.timeout_ms() > 0 ? milliseconds(request.timeout_ms()) : kWaitDefault;
  inbox_.Push(
      PendingWait{request, farm_uid, clock_.Monotonic() + timeout, std::move(done), std::nullopt});
}

void FeedLoop::WaitForWork(milliseconds at_most) { inbox_.Wait(at_most); }

milliseconds FeedLoop::Step() {
  for (FeedEvent& event : inbox_.TakeAll()) {
    std::visit([this](auto& typed) { Take(typed); }, event);
  }
  CloseSilent();
  absl::Status status = RunFarms();
  SendAll();
  status.Update(marks_.Flush());
  waits_.Answer(marks_);
  if (head_known_) {
    status.Update(compaction_.RunIfDue(head_));
  }
  if (!status.ok() && !store_failing_) {
    log::Error("feed", "the store does not answer, nodes go on with what they have",
               {{"err", std::string(status.message())}});
  }
  store_failing_ = !status.ok();
  return NextStep(!status.ok());
}

absl::Status FeedLoop::RunFarms() {
  if (sessions_.empty()) {
    return absl::OkStatus();
  }
  const auto now = clock_.Monotonic();
  if (look_ || now - looked_ >= kLookInterval) {
    const auto head = store_.GetHead();
    if (!head.ok()) {
      return head.status();
    }
    head_ = *head;
    head_known_ = true;
    look_ = false;
    looked_ = now;
  }
  context_.snapshots_running =
      static_cast<int>(std::count_if(sessions_.begin(), sessions_.end(), [](const auto& item) {
        return item.second->state == SessionState::kSnapshot;
      }));
  absl::Status status;
  for (auto& [uid, farm] : farms_) {
    status.Update(farm.Round(head_));
  }
  look_ = look_ || !status.ok();
  return status;
}

void FeedLoop::SendAll() {
  const auto now = clock_.Monotonic();
  for (const auto& [id, session] : sessions_) {
    if (session->welcomed && session->urgent.empty() && !session->outstanding &&
        now - session->sent >= options_.heartbeat_interval) {
      node::v1::ControlMessage message;
      message.mutable_heartbeat()->set_sequence(0);
      session->urgent.push_back(Serialize(message));
    }
    if (SendNext(*session, now)) {
      marks_.Edit(session->node).marks.sent_revision = session->position.revision();
    }
  }
}

void FeedLoop::CloseSilent() {
  const auto now = clock_.Monotonic();
  for (const auto& [id, session] : sessions_) {
    if (now - session->heard >= kSilentHeartbeats * options_.heartbeat_interval) {
      Close(*session, Error(absl::StatusCode::kDeadlineExceeded, "nothing heard from node {}",
                            session->node.node));
    }
  }
}

milliseconds FeedLoop::NextStep(bool store_failed) {
  if (store_failed) {
    return kRetryInterval;
  }
  // Without a session there is nobody to look for: the next one that comes makes up for it.
  if ((look_ && !sessions_.empty()) || !inbox_.empty()) {
    return milliseconds(0);
  }
  for (const auto& [uid, farm] : farms_) {
    if (farm.unfinished()) {
      return milliseconds(0);
    }
  }
  for (const auto& [id, session] : sessions_) {
    if (session->HasWork()) {
      return milliseconds(0);
    }
  }
  const bool marks_due = marks_.pending() || !waits_.empty();
  return marks_due ? options_.marks_interval : std::min(kLookInterval, options_.heartbeat_interval);
}

void FeedLoop::Take(StreamOpened& event) {
  for (const auto& [id, other] : sessions_) {
    if (other->node.node_uid == event.node.node_uid) {
      Close(*other,
            Error(absl::StatusCode::kAborted, "node {} opened another stream", event.node.node));
    }
  }
  auto session = std::make_unique<Session>();
  session->id = event.session;
  session->node = event.node;
  session->transport = std::move(event.transport);
  session->heard = session->sent = clock_.Monotonic();
  farms_.try_emplace(event.node.farm_uid, event.node.farm_uid, context_)
      .first->second.Add(*session);
  sessions_[event.session] = std::move(session);
}

void FeedLoop::Take(MessageReceived& event) {
  const auto found = sessions_.find(event.session);
  if (found == sessions_.end() || found->second->state == SessionState::kClosed) {
    return;
  }
  Session& session = *found->second;
  session.heard = clock_.Monotonic();
  marks_.Touch(session.node.node_uid);
  using Kind = node::v1::NodeMessage::MessageCase;
  switch (event.message.message_case()) {
    case Kind::kHello:
      OnHello(session, event.message.hello());
      break;
    case Kind::kAck:
      OnAck(session, event.message.ack());
      break;
    case Kind::kMarks:
      OnMarks(session, event.message.marks());
      break;
    case Kind::kCounters:
    case Kind::kEvent:
      if (on_report_) {
        on_report_(session.node, event.message);
      }
      break;
    case Kind::kHeartbeat:
    case Kind::MESSAGE_NOT_SET:
      break;
  }
}

void FeedLoop::Take(MessageSent& event) {
  if (const auto found = sessions_.find(event.session); found != sessions_.end()) {
    found->second->outstanding = false;
  }
}

void FeedLoop::Take(StreamClosed& event) {
  const auto found = sessions_.find(event.session);
  if (found == sessions_.end()) {
    return;
  }
  const std::unique_ptr<Session> session = std::move(found->second);
  sessions_.erase(found);
  const auto farm = farms_.find(session->node.farm_uid);
  farm->second.Remove(*session);
  if (farm->second.empty()) {
    farms_.erase(farm);
  }
  const bool back = std::any_of(sessions_.begin(), sessions_.end(), [&](const auto& item) {
    return item.second->node.node_uid == session->node.node_uid;
  });
  if (!back) {
    marks_.Leave(session->node.node_uid);
  }
}

void FeedLoop::Take(StoreChanged& /*event*/) { look_ = true; }

void FeedLoop::Take(RetryAsked& event) {
  for (const auto& [id, session] : sessions_) {
    if (session->node.node_uid == event.node_uid) {
      session->retries.insert({event.key.type(), event.key.uid()});
    }
  }
}

void FeedLoop::Take(PendingWait& event) { waits_.Add(std::move(event)); }

void FeedLoop::OnHello(Session& session, const node::v1::Hello& hello) {
  if (session.state != SessionState::kAwaitingHello) {
    Close(session, Error(absl::StatusCode::kInvalidArgument, "a second hello on one stream"));
    return;
  }
  session.hello = hello;
  session.state = SessionState::kDeciding;
  for (const node::v1::RecordResult& refused : hello.quarantine()) {
    session.refused[{refused.type(), refused.uid()}] = refused;
  }
  look_ = true;
  LocalNode& local = marks_.Edit(session.node);
  local.marks.connected = true;
  local.marks.ever_connected = true;
  local.marks.sent_revision = hello.position().revision();
  session.applied_revision = hello.position().revision();
  ShowMarks(session, marks_);
  local.refused = session.refused;
  local.problem.clear();
  local.missing.clear();
  local.vanishing = hello.has_vanishing() ? std::optional(hello.vanishing()) : std::nullopt;
  local.version = hello.version();
  local.endpoints.assign(hello.endpoints().begin(), hello.endpoints().end());
}

void FeedLoop::OnAck(Session& session, const node::v1::Ack& ack) {
  if (!session.of_this_history) {
    // The cut that ends the snapshot; what was served before it is of another history.
    session.of_this_history = true;
    session.serving_revision = 0;
  }
  session.applied_revision = ack.position().revision();
  ShowMarks(session, marks_);
  LocalNode& local = marks_.Edit(session.node);
  for (const node::v1::RecordKey& released : ack.released()) {
    session.refused.erase({released.type(), released.uid()});
  }
  for (const node::v1::RecordResult& refused : ack.refused()) {
    session.refused[{refused.type(), refused.uid()}] = refused;
    ReportQuarantined(session, refused);
  }
  local.refused = session.refused;
}

void FeedLoop::OnMarks(Session& session, const node::v1::Marks& marks) {
  session.applied_revision = marks.applied_revision();
  session.serving_revision = marks.serving_revision();
  ShowMarks(session, marks_);
  LocalNode& local = marks_.Edit(session.node);
  local.problem = marks.problem();
  local.missing.assign(marks.missing_endpoints().begin(), marks.missing_endpoints().end());
  local.vanishing = marks.has_vanishing() ? std::optional(marks.vanishing()) : std::nullopt;
}

void FeedLoop::ReportQuarantined(const Session& session, const node::v1::RecordResult& refused) {
  if (!on_report_) {
    return;
  }
  node::v1::NodeMessage message;
  node::v1::EventReport& event = *message.mutable_event();
  event.set_time_unix_ms(UnixMillis(clock_.Now()));
  event.set_kind("record_quarantined");
  if (refused.type() == node::v1::SITE) {
    event.set_site_uid(refused.uid());
  } else if (refused.type() == node::v1::POOL) {
    event.set_pool_uid(refused.uid());
  }
  event.set_message(fmt::format("{} {} of revision {}: {}",
                                node::v1::RecordType_Name(refused.type()), refused.uid(),
                                refused.revision(), refused.reason()));
  on_report_(session.node, message);
}

std::unique_ptr<Feed> MakeFeed(store::Store& store, const Clock& clock, const FeedOptions& options,
                               ReportSink on_report) {
  return std::make_unique<FeedLoop>(store, clock, options, std::move(on_report));
}

}  // namespace croft::control::feed
