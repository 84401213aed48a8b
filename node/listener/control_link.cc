#include "node/listener/control_link.h"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <utility>

#include "proto/base/error.h"
#include "proto/base/log.h"

namespace croft::node::listener {
namespace {

using Descriptor = boost::asio::posix::stream_descriptor;

// Who made the channel: the launcher, which also makes the workers' sockets.
uid_t MakerOf(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return ::getuid();
  }
  return peer.uid;
}

}  // namespace

ControlLink::ControlLink(boost::asio::io_context& io, UniqueFd channel,
                         counters::CounterMemory& counters)
    : io_(io),
      channel_(std::move(channel)),
      sending_(channel_),
      events_(io),
      counters_(counters),
      outbox_([this] { boost::asio::post(io_, [this] { SendAll(); }); }) {}

void ControlLink::Start() {
  boost::system::error_code error;
  events_.assign(::dup(channel_.fd()), error);
  if (error) {
    End(Error(absl::StatusCode::kUnavailable, "control channel: {}", error.message()));
    return;
  }
  WaitReadable();
}

void ControlLink::WaitReadable() {
  events_.async_wait(Descriptor::wait_read, [this](const boost::system::error_code& error) {
    if (!error) {
      ReceiveAll();
    }
  });
}

void ControlLink::ReceiveAll() {
  for (;;) {
    auto received = channel_.Receive();
    if (!received.ok()) {
      End(received.status());
      return;
    }
    if (!received->has_value()) {
      WaitReadable();
      return;
    }
    const absl::Status handled = Handle(*std::move(*received));
    if (!handled.ok()) {
      log::Error("listener", "a message of the agent could not be obeyed",
                 {{"err", std::string(handled.message())}});
    }
  }
}

absl::Status ControlLink::Handle(link::Received received) {
  v1::AgentToListener message;
  if (absl::Status parsed = link::ParseMessage(received.bytes, message); !parsed.ok()) {
    return parsed;
  }
  using Case = v1::AgentToListener::MessageCase;
  const Case kind = message.message_case();
  if (kind == Case::kPing) {
    v1::ListenerToAgent pong;
    pong.mutable_pong()->set_sequence(message.ping().sequence());
    outbox_.Put(std::move(pong));
    return absl::OkStatus();
  }
  if (kind == Case::kSetup) {
    return OnSetup(message.setup());
  }
  if (loops_ == nullptr) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "message {} before ListenerSetup; send that first", static_cast<int>(kind));
  }
  switch (kind) {
    case Case::kEndpoint:
      return loops_->AddEndpoint(message.endpoint(), std::move(received.descriptors));
    case Case::kReplicaChanged:
      return OnChanged(message.replica_changed());
    case Case::kPool:
      loops_->OnPool(message.pool());
      return absl::OkStatus();
    case Case::kDraining:
      loops_->SetDraining(message.draining().draining());
      return absl::OkStatus();
    case Case::kSetup:
    case Case::kPing:
    case Case::MESSAGE_NOT_SET:
      break;
  }
  return Error(absl::StatusCode::kInvalidArgument, "a message of an unknown kind");
}

// A restarted agent that adopts the listener says it again.
absl::Status ControlLink::OnSetup(const v1::ListenerSetup& setup) {
  if (loops_ == nullptr) {
    auto started = LoopSet::Start(
        setup, {.counters = counters_, .outbox = outbox_, .launcher_uid = MakerOf(channel_.fd())});
    if (!started.ok()) {
      // Without a replica there is nothing to serve by: the agent takes another generation into
      // service and starts the listener again.
      if (absl::IsDataLoss(started.status())) {
        v1::ListenerToAgent message;
        message.mutable_damaged()->set_reason(std::string(started.status().message()));
        sending_.Send(message).IgnoreError();
      }
      End(started.status());
      return started.status();
    }
    loops_ = *std::move(started);
    replica_path_ = setup.replica_path();
  } else if (setup.replica_path() != replica_path_) {
    v1::ReplicaChanged change;
    change.set_replica_path(setup.replica_path());
    if (absl::Status changed = OnChanged(change); !changed.ok()) {
      return changed;
    }
  }
  v1::ListenerToAgent ready;
  ready.mutable_ready();
  outbox_.Put(std::move(ready));
  return absl::OkStatus();
}

absl::Status ControlLink::OnChanged(v1::ReplicaChanged change) {
  if (change.replica_path() == replica_path_) {
    change.clear_replica_path();  // LMDB allows an environment once in a process
    change.set_all(true);
  }
  absl::Status status = loops_->OnReplicaChanged(change);
  if (!status.ok()) {
    // The agent waits for an answer: what is served is still what was served before.
    outbox_.TellDamaged(std::string(status.message()));
    outbox_.TellServed(position_);
    return status;
  }
  if (!change.replica_path().empty()) {
    replica_path_ = change.replica_path();
  }
  if (change.has_position()) {
    position_ = change.position();
  }
  return status;
}

void ControlLink::SendAll() {
  if (waiting_writable_) {
    return;
  }
  absl::Status sent = sending_.Flush();
  while (sent.ok() && sending_.size() < kWaitingMax) {
    const auto message = outbox_.Take();
    if (!message) {
      break;
    }
    sent = sending_.Send(*message);
  }
  if (!sent.ok()) {
    End(sent);
  } else if (sending_.size() > 0) {
    WaitWritable();
  }
}

void ControlLink::WaitWritable() {
  waiting_writable_ = true;
  events_.async_wait(Descriptor::wait_write, [this](const boost::system::error_code& error) {
    waiting_writable_ = false;
    if (!error) {
      SendAll();
    }
  });
}

void ControlLink::End(absl::Status why) {
  ended_ = std::move(why);
  io_.stop();
}

}  // namespace croft::node::listener
