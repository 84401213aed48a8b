#include "node/agent/agent.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "node/agent/control_transport.h"
#include "node/agent/node_page.h"
#include "proto/base/log.h"

namespace croft::node::agent {
namespace {

constexpr char kOwnCounters[] = "agent";

std::string HostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::string DescribeVanishing(const croft::v1::VanishingSites& vanishing, const std::string& node) {
  return fmt::format(
      "replica: control's history is another one, and by it {} of {} sites would vanish from this "
      "node; they go on being served. If that is meant: croft resume node {} --expect-count {}",
      vanishing.sites(), vanishing.held(), node, vanishing.sites());
}

}  // namespace

absl::StatusOr<std::unique_ptr<Agent>> Agent::Create(boost::asio::io_context& loop,
                                                     const Clock& clock, Options options,
                                                     UniqueFd launcher,
                                                     std::function<void()> on_lost) {
  auto memory = counters::CounterMemory::Create();
  if (!memory.ok()) {
    return memory.status();
  }
  auto counters = counters::CounterMemory::Map(memory->get(), /*writable=*/true);
  if (!counters.ok()) {
    return counters.status();
  }
  auto agent =
      std::make_unique<Agent>(OnlyByCreate{}, loop, clock, std::move(options), std::move(launcher),
                              *std::move(counters), std::move(on_lost));
  if (const absl::Status status = agent->collector_.AddSource(kOwnCounters, memory->get());
      !status.ok()) {
    return status;
  }
  return agent;
}

Agent::Agent(OnlyByCreate, boost::asio::io_context& loop, const Clock& clock, Options options,
             UniqueFd launcher, std::unique_ptr<counters::CounterMemory> counters,
             std::function<void()> on_lost)
    : loop_(loop),
      options_(std::move(options)),
      identity_store_(options_.data_directory + "/identity"),
      counters_(std::move(counters)),
      events_(clock),
      launcher_(loop, std::move(launcher),
                {.on_exited = [this](const v1::ProcessExited& exited) { OnExited(exited); },
                 .on_lost =
                     [on_lost = std::move(on_lost)](const absl::Status& status) {
                       log::Error("agent", "the launcher is gone", {{"err", status.ToString()}});
                       on_lost();
                     }}),
      pools_({loop, clock, launcher_, collector_, *counters_, events_},
             [this](std::int64_t pool_uid) { listener_.OnPoolChanged(pool_uid); }),
      listener_({loop, clock, launcher_, collector_, *counters_, events_}, pools_,
                ListenerOptions(), ListenerHooks()),
      desired_({options_.config.addresses().begin(), options_.config.addresses().end()}, ""),
      session_(loop, clock, {}, {events_, collector_}, SessionHooks()),
      enrolment_(loop, identity_store_,
                 {.control = options_.config.control(),
                  .ca_file = options_.config.ca_file(),
                  .join_token_file = options_.config.join_token_file()},
                 [this](Identity identity) { OnEnrolled(std::move(identity)); }),
      recheck_timer_(loop),
      reopen_timer_(loop),
      replica_(loop,
               {.directory = options_.data_directory + "/replica",
                .version = options_.version,
                .own_directory = options_.data_directory},
               ReplicaCallbacks()) {}

Agent::~Agent() {
  session_.Stop();
  if (metrics_ != nullptr) {
    metrics_->Stop();
  }
}

void Agent::StartMetrics() {
  if (options_.metrics_listen.empty()) {
    return;
  }
  auto started = MetricsServer::Start(loop_, options_.metrics_listen, [this] {
    return MakeNodePage({.counters = collector_,
                         .reader = reader_.get(),
                         .node = identity_.has_value() ? identity_->node : "",
                         .connected = session_.connected(),
                         .applied_revision = marks_.applied_revision(),
                         .serving_revision = marks_.serving_revision(),
                         .problem = !marks_.problem().empty()});
  });
  if (started.ok()) {
    metrics_ = *std::move(started);
  } else {
    log::Error("agent", "there are no metrics", {{"err", std::string(started.status().message())}});
  }
}

ListenerSupervisor::Options Agent::ListenerOptions() const {
  const v1::HealthUrl& health = options_.config.health();
  return {.log_path = options_.data_directory + "/log",
          .loops = options_.config.loops(),
          .health = {health.ip(), static_cast<std::uint16_t>(health.port())}};
}

ListenerSupervisor::Hooks Agent::ListenerHooks() {
  return {.on_served =
              [this](const v1::Position& position) {
                if (position.epoch() == position_.epoch()) {
                  served_revision_ = position.revision();
                  SendMarks();
                }
              },
          .on_damaged = [this](const std::string& reason) { OnDamaged(reason); },
          .on_endpoint = [this] { SendMarks(); }};
}

ControlSession::Hooks Agent::SessionHooks() {
  using StreamNumber = ControlSession::StreamNumber;
  return {.connect =
              [this](ControlConnection::Callbacks callbacks) {
                return ConnectToControl(loop_, options_.config.control(), *identity_,
                                        std::move(callbacks));
              },
          .on_connecting =
              [this](StreamNumber stream) {
                replica_.OnStreamLost();
                replica_.MakeHello(stream);
              },
          .on_message =
              [this](StreamNumber stream, v1::ControlMessage message) {
                replica_.Apply(stream, std::move(message));
              }};
}

ReplicaThread::Callbacks Agent::ReplicaCallbacks() {
  using StreamNumber = ReplicaThread::StreamNumber;
  return {.on_opened = [this](const std::string& path,
                              const v1::Position& position) { OnReplicaOpened(path, position); },
          .on_hello =
              [this](StreamNumber stream, v1::Hello hello) {
                for (const std::string& endpoint : listener_.ListEndpoints()) {
                  hello.add_endpoints(endpoint);
                }
                session_.SendHello(stream, std::move(hello));
              },
          .on_applied = [this](StreamNumber stream,
                               ApplyOutcome outcome) { OnApplied(stream, std::move(outcome)); },
          .on_problem = [this](const std::string& problem) { OnReplicaProblem(problem); }};
}

void Agent::Start() {
  LoadIdentity();
  StartMetrics();
  replica_.Open();
  launcher_.GetInventory([this](absl::StatusOr<Inventory> inventory) {
    if (inventory.ok()) {
      OnInventory(*std::move(inventory));
    } else {
      log::Error("agent", "the launcher gives no inventory",
                 {{"err", inventory.status().ToString()}});
    }
  });
  if (!options_.config.control().empty()) {
    enrolment_.Start();
  }
}

// For the node's name: it must know its own record before it has met control.
void Agent::LoadIdentity() {
  const auto identity = identity_store_.Load();
  if (identity.ok() && identity->has_value()) {
    identity_ = **identity;
    desired_.set_node_name(identity_->node);
  }
}

void Agent::OnInventory(Inventory inventory) {
  inventory_ = std::move(inventory);
  MaybeBegin();
}

void Agent::OnReplicaOpened(const std::string& path, const v1::Position& position) {
  setting_aside_ = false;
  position_ = position;
  replica_path_ = path;
  marks_.set_applied_revision(position.revision());
  if (!marks_.problem().empty()) {
    session_.Restart();  // a stream that began meanwhile has had no hello
  }
  marks_.clear_problem();
  auto reader = replica::Reader::Open(path);
  if (!reader.ok()) {
    OnDamaged("agent cannot read it: " + reader.status().ToString());
    return;
  }
  reader_ = *std::move(reader);
  if (begun_) {
    listener_.SetReplica(path, position);
    Reload();
  } else {
    MaybeBegin();
  }
  SendMarks();
}

void Agent::OnReplicaProblem(const std::string& problem) {
  marks_.set_problem(problem);
  SendMarks();
  reopen_timer_.expires_after(ReplicaThread::kReopenInterval);
  reopen_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) {
      replica_.Open();
    }
  });
}

void Agent::MaybeBegin() {
  if (begun_ || !inventory_.has_value() || reader_ == nullptr) {
    return;
  }
  begun_ = true;
  pools_.SetIdentities(inventory_->separate_identities, inventory_->listener_uid);
  const bool separate = inventory_->separate_identities;
  for (StartedProcess& process : inventory_->processes) {
    if (process.process.kind() == v1::LISTENER) {
      listener_.Adopt(std::move(process));
    } else if (process.process.kind() == v1::WORKER) {
      pools_.Adopt(std::move(process));
    }
  }
  inventory_->processes.clear();
  for (const v1::Endpoint& endpoint : inventory_->endpoints) {
    listener_.AdoptEndpoint({endpoint.ip(), static_cast<std::uint16_t>(endpoint.port())});
  }
  Reload();
  listener_.Start(separate, identity_.has_value() ? identity_->node : HostName(), replica_path_,
                  position_);
  ArmRecheck();
}

void Agent::OnEnrolled(Identity identity) {
  identity_ = std::move(identity);
  desired_.set_node_name(identity_->node);
  session_.Start();
}

void Agent::OnApplied(ControlSession::StreamNumber stream, ApplyOutcome outcome) {
  if (outcome.damaged) {
    OnDamaged(outcome.problem);
    return;
  }
  if (outcome.committed) {
    OnCommitted(outcome);
  }
  if (outcome.ack.has_value()) {
    for (const v1::RecordResult& refused : outcome.ack->refused()) {
      // The event that operators see is control's, made of the ack.
      log::Warn(
          "agent", "a record is not applied",
          {{"record", fmt::format("{} {}", v1::RecordType_Name(refused.type()), refused.uid())},
           {"rev", std::to_string(refused.revision())},
           {"err", refused.reason()}});
    }
    session_.SendAck(stream, *std::move(outcome.ack));
  }
  marks_.set_applied_revision(outcome.position.revision());
  if (marks_.serving_revision() > marks_.applied_revision()) {
    ForgetServed();
  }
  NoteProblem(outcome);
  SendMarks();
  if (outcome.close_stream) {
    session_.CloseStream(stream);
  } else {
    session_.ReadNext(stream);
  }
}

void Agent::NoteProblem(const ApplyOutcome& outcome) {
  const std::string node = identity_.has_value() ? identity_->node : "";
  std::string problem =
      outcome.vanishing ? DescribeVanishing(*outcome.vanishing, node) : outcome.problem;
  if (problem != marks_.problem() && !problem.empty()) {
    log::Error("agent", "changes cannot be applied", {{"err", problem}});
    if (outcome.vanishing) {
      events_.Push("sites_would_vanish", {}, problem);
      session_.OnEvent();
    }
  }
  marks_.clear_vanishing();
  if (outcome.vanishing) {
    *marks_.mutable_vanishing() = *outcome.vanishing;
  }
  marks_.set_problem(std::move(problem));
}

void Agent::OnCommitted(const ApplyOutcome& outcome) {
  if (position_.epoch() != outcome.position.epoch()) {
    ForgetServed();
  }
  position_ = outcome.position;
  listener_.OnReplicaChanged(
      {.position = outcome.position, .keys = outcome.changed, .all = outcome.all});
  if (reader_ == nullptr) {
    return;
  }
  if (outcome.all) {
    Reload();
    return;
  }
  std::set<std::int64_t> changed_pools;
  const absl::Status status = desired_.Update(*reader_, outcome.changed, changed_pools);
  if (absl::IsDataLoss(status)) {
    OnDamaged(status.ToString());
    return;
  }
  if (!status.ok()) {
    log::Error("agent", "replica cannot be read", {{"err", status.ToString()}});
  }
  Reconcile();
}

void Agent::OnDamaged(const std::string& reason) {
  if (std::exchange(setting_aside_, true)) {
    return;
  }
  events_.Push("replica_damaged", {}, reason);
  reader_.reset();
  replica_.SetAside(reason);
  session_.Restart();
}

void Agent::OnExited(const v1::ProcessExited& exited) {
  if (!listener_.OnExited(exited) && !pools_.OnExited(exited)) {
    log::Warn("agent", "an unknown process exited", {{"pid", std::to_string(exited.pid())}});
  }
  session_.OnEvent();
}

void Agent::Reload() {
  const absl::Status status = desired_.Load(*reader_);
  if (!status.ok()) {
    log::Error("agent", "replica cannot be read", {{"err", status.ToString()}});
  }
  Reconcile();
  if (absl::IsDataLoss(status)) {
    OnDamaged(status.ToString());
  }
}

void Agent::Reconcile() {
  if (!begun_) {
    return;  // what outlived the agent before must be adopted first
  }
  pools_.SetPools(desired_.pools());
  listener_.SetDraining(desired_.draining());
  listener_.SetEndpoints(desired_.endpoints());
}

void Agent::ArmRecheck() {
  recheck_timer_.expires_after(kRecheckInterval);
  recheck_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) {
      return;
    }
    if (reader_ != nullptr && desired_.LoadEndpoints(*reader_).ok()) {
      Reconcile();
    }
    ArmRecheck();
  });
}

void Agent::ForgetServed() {
  served_revision_ = 0;
  marks_.set_serving_revision(0);
}

// A revision is served when the listener answers from it and it is known where it listens: until
// then the mark stays where it was.
void Agent::SendMarks() {
  if (listener_.EndpointsSettled()) {
    marks_.set_serving_revision(served_revision_);
  }
  v1::Marks told = marks_;
  std::string problem;
  for (const EndpointKeeper::Missing& missing : listener_.ListMissing()) {
    problem += (problem.empty() ? "" : "; ") + missing.reason;
    for (std::string& ip : BindingIpsOf(missing.key, desired_.addresses())) {
      croft::v1::MissingEndpoint& endpoint = *told.add_missing_endpoints();
      endpoint.set_ip(std::move(ip));
      endpoint.set_port(missing.key.port);
      endpoint.set_reason(missing.reason);
    }
  }
  // What keeps changes from being applied is said before what is merely missing.
  if (told.problem().empty()) {
    told.set_problem(problem);
  }
  session_.SetMarks(told);
}

}  // namespace croft::node::agent
