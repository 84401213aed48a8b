#include "control/api/stream_call.h"

#include "proto/base/error.h"

namespace croft::control::api {
namespace {

absl::StatusOr<Turn> NextTurn(StreamHandler& handler, const domain::Caller& caller) {
  return handler.OnTurn(caller);
}

}  // namespace

StreamCall::StreamCall(std::shared_ptr<StreamTransport> transport, Credentials credentials,
                       const StreamMethod& method, const Services& services)
    : transport_(std::move(transport)),
      credentials_(std::move(credentials)),
      method_(method),
      services_(services) {}

void StreamCall::Start() {
  services_.live_streams.Add(weak_from_this());
  transport_->Read();
}

void StreamCall::OnMessage(MessagePtr message) {
  const std::shared_ptr<google::protobuf::Message> request = std::move(message);
  PushTurn([request](StreamHandler& handler, const domain::Caller& caller) {
    return handler.OnRequest(caller, *request);
  });
}

void StreamCall::OnEnd() {
  if (!method_.descriptor->client_streaming()) {
    Finish(Error(absl::StatusCode::kInvalidArgument, "the call ended before its request"));
    return;
  }
  PushTurn(
      [](StreamHandler& handler, const domain::Caller& caller) { return handler.OnEnd(caller); });
}

void StreamCall::OnSent() { GoOn(last_, true); }

void StreamCall::OnClosed(const absl::Status& status) { Finish(status); }

void StreamCall::CheckCaller() {
  const absl::Status status = services_.authorizer.GetOperator(credentials_).status();
  // A store that cannot be asked right now is for the next turn to meet.
  if (absl::IsUnauthenticated(status) || absl::IsPermissionDenied(status)) {
    Finish(status);
  }
}

void StreamCall::TakeTurnIfIdle() {
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kWake) {
      return;
    }
    phase_ = Phase::kTurn;
  }
  RunTurn(NextTurn);
}

bool StreamCall::Enter(Phase phase) {
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::kFinished) {
    return false;
  }
  phase_ = phase;
  return true;
}

void StreamCall::WakeUp() {
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kWake) {
      woken_ = true;
      return;
    }
    phase_ = Phase::kTurn;
  }
  PushNextTurn();
}

void StreamCall::PushTurn(Work work) {
  if (!Enter(Phase::kTurn)) {
    return;
  }
  auto run = [call = shared_from_this(), work = std::move(work)] { call->RunTurn(work); };
  if (!services_.executor.TryPush(std::move(run))) {
    Finish(BusyError());
  }
}

// REQUIRES: the phase is kTurn, or the stream has ended.
void StreamCall::PushNextTurn() {
  if (!services_.executor.TryPush([call = shared_from_this()] { call->RunTurn(NextTurn); })) {
    Enter(Phase::kWake);  // the next beat's, when many were woken at once
  }
}

void StreamCall::RunTurn(const Work& work) {
  const auto caller = services_.authorizer.GetOperator(credentials_);
  if (!caller.ok()) {
    Finish(caller.status());
    return;
  }
  if (handler_ == nullptr) {
    handler_ = method_.open([weak = weak_from_this()] {
      if (const auto call = weak.lock()) {
        call->WakeUp();
      }
    });
  }
  auto turn = work(*handler_, *caller);
  if (!turn.ok()) {
    Finish(turn.status());
    return;
  }
  if (turn->messages.empty()) {
    GoOn(turn->last, false);
    return;
  }
  last_ = turn->last;
  if (Enter(Phase::kSending)) {
    transport_->Send(std::move(turn->messages));
  }
}

void StreamCall::GoOn(bool last, bool again) {
  if (last) {
    Finish(absl::OkStatus());
    return;
  }
  if (method_.descriptor->client_streaming()) {
    if (Enter(Phase::kCaller)) {
      transport_->Read();
    }
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::kFinished) {
      return;
    }
    again = again || woken_;
    woken_ = false;
    phase_ = again ? Phase::kTurn : Phase::kWake;
  }
  if (again) {
    PushNextTurn();
  }
}

void StreamCall::Finish(const absl::Status& status) {
  {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::kFinished) {
      return;
    }
    phase_ = Phase::kFinished;
  }
  transport_->Finish(status);
}

}  // namespace croft::control::api
