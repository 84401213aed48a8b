#include "node/agent/listener_supervisor.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "node/agent/exit_status.h"
#include "node/replica/damage.h"
#include "proto/base/log.h"

namespace croft::node::agent {
namespace {

constexpr char kCounterSource[] = "listener";

bool MetDamage(int wait_status) {
  return DiedOf(wait_status, SIGBUS) ||
         (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == replica::kExitReplicaDamaged);
}

}  // namespace

ListenerSupervisor::ListenerSupervisor(SupervisionTools tools, PoolSupervisor& pools,
                                       Options options, Hooks hooks)
    : tools_(tools),
      pools_(pools),
      options_(std::move(options)),
      hooks_(std::move(hooks)),
      timer_(tools.loop),
      endpoints_(tools.launcher, tools.events, tools.clock,
                 {.sockets = options_.loops, .health = options_.health},
                 {.send =
                      [this](const v1::AgentToListener& message, std::vector<UniqueFd> sockets) {
                        return IsUp() && channel_->Send(message, std::move(sockets));
                      },
                  .on_answer =
                      [this] {
                        Run();
                        hooks_.on_endpoint();
                      }}) {}

ListenerSupervisor::~ListenerSupervisor() {
  if (channel_ != nullptr) {
    channel_->Close();
  }
}

void ListenerSupervisor::Start(bool separate_identities, const std::string& node_name,
                               const std::string& replica_path, const v1::Position& position) {
  separate_identities_ = separate_identities;
  node_name_ = node_name;
  replica_path_ = replica_path;
  position_ = position;
  begun_ = true;
  if (IsUp()) {  // adopted: it may have missed what happened while there was no agent
    tell_path_ = true;
    SendSetup();
    SendLevels();
  }
  Run();
}

void ListenerSupervisor::Adopt(StartedProcess process) {
  Attach(std::move(process), /*adopted=*/true);
}

void ListenerSupervisor::Run() {
  if (!begun_) {
    return;
  }
  const TimePoint now = tools_.clock.Monotonic();
  if (phase_ == Phase::kNone) {
    if (now < not_before_) {
      ArmTimer(not_before_);
      return;
    }
    StartListener();
    return;
  }
  if (!IsUp()) {
    return;
  }
  const TimePoint next = std::min(now + kPingInterval, endpoints_.Sync(now));
  CheckPing(now);
  ArmTimer(next);
}

void ListenerSupervisor::StartListener() {
  phase_ = Phase::kStarting;
  tools_.launcher.StartListener([this](absl::StatusOr<StartedProcess> started) {
    if (started.ok()) {
      Attach(*std::move(started), /*adopted=*/false);
      SendSetup();
      SendLevels();
      Run();
      return;
    }
    phase_ = Phase::kNone;
    tools_.events.Push("listener_crashed", {},
                       fmt::format("no listener: {}", std::string(started.status().message())));
    not_before_ = tools_.clock.Monotonic() + RestartDelay(++failures_);
    Run();
  });
}

void ListenerSupervisor::Attach(StartedProcess process, bool adopted) {
  const TimePoint now = tools_.clock.Monotonic();
  process_ = process.process;
  phase_ = adopted ? Phase::kReady : Phase::kWaitsForReady;
  phase_since_ = heard_ = now;
  ping_sent_.reset();
  awaits_served_ = false;
  channel_ = MessageChannel::Open(
      tools_.loop, std::move(process.channel),
      {.on_message = [this](const link::Received& received) { OnMessage(received); },
       .on_closed = [](const absl::Status&) {},  // its exit tells
       .on_writable = [this] { Flush(); }});
  const absl::Status status = tools_.collector.AddSource(kCounterSource, process.counters.get());
  if (!status.ok()) {
    log::Warn("agent", "listener is not counted", {{"err", status.ToString()}});
  }
  log::Info("agent", adopted ? "listener adopted" : "listener started",
            {{"pid", std::to_string(process_.pid())}});
  pools_.SetListening(true);
}

void ListenerSupervisor::SendSetup() {
  v1::AgentToListener message;
  v1::ListenerSetup& setup = *message.mutable_setup();
  setup.set_replica_path(replica_path_);
  setup.set_log_path(options_.log_path);
  setup.set_node_name(node_name_);
  setup.set_loops(options_.loops);
  setup.set_health_ip(options_.health.ip);
  setup.set_health_port(options_.health.port);
  setup.set_separate_identities(separate_identities_);
  channel_->Send(message);
}

// Everything a listener must know that it may not know.
void ListenerSupervisor::SendLevels() {
  v1::AgentToListener message;
  message.mutable_draining()->set_draining(draining_);
  channel_->Send(message);
  for (const std::int64_t uid : pools_.ListPools()) {
    changed_pools_.insert(uid);
  }
  endpoints_.HandOverAgain();
  OnReplicaChanged({.position = position_, .keys = {}, .all = true});
}

void ListenerSupervisor::Flush() {
  if (!IsUp() || !begun_) {
    return;
  }
  FlushPools();
  FlushChange();
}

void ListenerSupervisor::FlushPools() {
  while (!changed_pools_.empty() && !channel_->congested()) {
    const std::int64_t uid = *changed_pools_.begin();
    v1::AgentToListener message;
    std::optional<v1::PoolUpdate> update = pools_.BuildUpdate(uid);
    if (update.has_value()) {
      *message.mutable_pool() = *std::move(update);
    } else {
      message.mutable_pool()->set_pool_uid(uid);
      message.mutable_pool()->set_removed(true);
    }
    if (!channel_->Send(message)) {
      return;
    }
    changed_pools_.erase(uid);
  }
}

// The position may be unknown yet (epoch 0): an empty replica is served as such.
void ListenerSupervisor::FlushChange() {
  if (!news_.has_value() || awaits_served_ || channel_->congested()) {
    return;
  }
  v1::AgentToListener message;
  v1::ReplicaChanged& changed = *message.mutable_replica_changed();
  *changed.mutable_position() = news_->position;
  changed.set_all(news_->all);
  for (const v1::RecordKey& key : news_->keys) {
    *changed.add_keys() = key;
  }
  if (tell_path_) {
    changed.set_replica_path(replica_path_);
  }
  if (channel_->Send(message)) {
    news_.reset();
    tell_path_ = false;
    awaits_served_ = true;
  }
}

void ListenerSupervisor::AdoptEndpoint(const EndpointKey& key) { endpoints_.Adopt(key); }

void ListenerSupervisor::SetEndpoints(const std::set<EndpointKey>& endpoints) {
  endpoints_.SetWanted(endpoints);
  Run();
}

void ListenerSupervisor::SetDraining(bool draining) {
  if (draining_ == draining) {
    return;
  }
  draining_ = draining;
  if (IsUp()) {
    v1::AgentToListener message;
    message.mutable_draining()->set_draining(draining);
    channel_->Send(message);
  }
}

void ListenerSupervisor::OnPoolChanged(std::int64_t pool_uid) {
  changed_pools_.insert(pool_uid);
  Flush();
}

void ListenerSupervisor::OnReplicaChanged(const ReplicaNews& news) {
  position_ = news.position;
  if (news_.has_value()) {
    news_->Merge(news);
  } else {
    news_ = news;
  }
  Flush();
}

void ListenerSupervisor::SetReplica(const std::string& path, const v1::Position& position) {
  if (std::exchange(replica_path_, path) != path) {
    tell_path_ = true;
  }
  OnReplicaChanged({.position = position, .keys = {}, .all = true});
}

void ListenerSupervisor::OnMessage(const link::Received& received) {
  v1::ListenerToAgent message;
  if (const absl::Status status = link::ParseMessage(received.bytes, message); !status.ok()) {
    log::Error("agent", "message from the listener cannot be read", {{"err", status.ToString()}});
    return;
  }
  heard_ = tools_.clock.Monotonic();
  switch (message.message_case()) {
    case v1::ListenerToAgent::kReady:
      phase_ = Phase::kReady;
      log::Info("agent", "listener is ready", {{"pid", std::to_string(process_.pid())}});
      return;
    case v1::ListenerToAgent::kPong:
      ping_sent_.reset();
      return;
    case v1::ListenerToAgent::kServed:
      awaits_served_ = false;
      hooks_.on_served(message.served().position());
      Flush();
      return;
    case v1::ListenerToAgent::kStartPool:
      pools_.OnDemand(message.start_pool().pool_uid());
      return;
    case v1::ListenerToAgent::kDrained:
      pools_.OnDrained(message.drained().process_id());
      return;
    case v1::ListenerToAgent::kEvent:
      tools_.events.Push(
          message.event().kind(),
          {.site_uid = message.event().site_uid(), .pool_uid = message.event().pool_uid()},
          message.event().message());
      return;
    case v1::ListenerToAgent::kDamaged:
      hooks_.on_damaged(message.damaged().reason());
      return;
    case v1::ListenerToAgent::MESSAGE_NOT_SET:
      return;
  }
}

void ListenerSupervisor::CheckPing(TimePoint now) {
  if (phase_ == Phase::kWaitsForReady) {
    if (now - phase_since_ >= kStartupLimit) {
      Kill("was not ready in time");
    }
    return;
  }
  if (ping_sent_.has_value()) {
    if (now - *ping_sent_ >= kPingResponse) {
      Kill("did not answer a ping");
    }
    return;
  }
  if (now - heard_ >= kPingInterval || ping_sequence_ == 0) {
    v1::AgentToListener message;
    message.mutable_ping()->set_sequence(++ping_sequence_);
    channel_->Send(message);
    ping_sent_ = now;
  }
}

void ListenerSupervisor::Kill(const std::string& why) {
  tools_.events.Push("listener_ping_failed", {},
                     fmt::format("listener (pid {}) {} and is killed", process_.pid(), why));
  tools_.launcher.Kill(process_.process_id(), SIGKILL);
  phase_ = Phase::kKilled;
}

bool ListenerSupervisor::OnExited(const v1::ProcessExited& exited) {
  if (exited.kind() != v1::LISTENER || exited.process_id() != process_.process_id()) {
    return exited.kind() == v1::LISTENER;
  }
  const TimePoint now = tools_.clock.Monotonic();
  const std::string how = DescribeExit(exited.wait_status());
  tools_.events.Push("listener_crashed", {},
                     fmt::format("listener (pid {}) {}", exited.pid(), how));
  if (channel_ != nullptr) {
    channel_->Close();
  }
  if (now - phase_since_ >= kStableAfter) {
    failures_ = 0;
  }
  not_before_ = now + RestartDelay(failures_);
  failures_ += 1;
  phase_ = Phase::kNone;
  ping_sequence_ = 0;
  pools_.SetListening(false);
  if (MetDamage(exited.wait_status())) {
    hooks_.on_damaged(fmt::format("listener {}", how));
  }
  Run();
  return true;
}

void ListenerSupervisor::ArmTimer(TimePoint when) {
  timer_.expires_at(when);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) {
      Run();
    }
  });
}

}  // namespace croft::node::agent
