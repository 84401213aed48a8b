// The agent as a whole: replica, supervision and the conversation with control, wired together.
// Nothing here waits for control: what the replica holds is served, from the first moment.
// Supervision loop only.
#pragma once

#include <absl/status/statusor.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "croft/node/v1/config.pb.h"
#include "node/agent/control_session.h"
#include "node/agent/counter_collector.h"
#include "node/agent/desired_state.h"
#include "node/agent/enrolment.h"
#include "node/agent/event_queue.h"
#include "node/agent/identity.h"
#include "node/agent/launcher_client.h"
#include "node/agent/listener_supervisor.h"
#include "node/agent/metrics_server.h"
#include "node/agent/pool_supervisor.h"
#include "node/agent/replica_thread.h"
#include "node/counters/counter_memory.h"
#include "node/replica/reader.h"
#include "proto/base/clock.h"

namespace croft::node::agent {

class Agent {
 public:
  struct Options {
    std::string data_directory;
    std::string version;
    v1::NodeConfig config;
    std::string metrics_listen;  // IP:PORT of GET /metrics; "": none
  };
  // The machine's addresses and failed reads are looked at again this often.
  static constexpr std::chrono::milliseconds kRecheckInterval{30'000};

  // `on_lost`: the launcher is gone, and with it the reason to run.
  static absl::StatusOr<std::unique_ptr<Agent>> Create(boost::asio::io_context& loop,
                                                       const Clock& clock, Options options,
                                                       UniqueFd launcher,
                                                       std::function<void()> on_lost);
  // Closes the stream and the replica; listener and workers run on.
  ~Agent();

  void Start();

 private:
  struct OnlyByCreate {};

 public:
  Agent(OnlyByCreate, boost::asio::io_context& loop, const Clock& clock, Options options,
        UniqueFd launcher, std::unique_ptr<counters::CounterMemory> counters,
        std::function<void()> on_lost);

 private:
  ControlSession::Hooks SessionHooks();
  ReplicaThread::Callbacks ReplicaCallbacks();
  ListenerSupervisor::Hooks ListenerHooks();
  ListenerSupervisor::Options ListenerOptions() const;

  void LoadIdentity();
  // That it fails hurts nothing else.
  void StartMetrics();
  void OnInventory(Inventory inventory);
  void OnReplicaOpened(const std::string& path, const v1::Position& position);
  // Once both the inventory and the replica are there.
  void MaybeBegin();
  void OnEnrolled(Identity identity);
  void OnApplied(ControlSession::StreamNumber stream, ApplyOutcome outcome);
  void OnCommitted(const ApplyOutcome& outcome);
  void NoteProblem(const ApplyOutcome& outcome);
  void OnDamaged(const std::string& reason);
  void OnExited(const v1::ProcessExited& exited);
  // Brings the supervisors in step with what is desired.
  void Reconcile();
  void Reload();
  void OnReplicaProblem(const std::string& problem);
  void ArmRecheck();
  void SendMarks();
  // Revisions of a history that is no more mean nothing.
  void ForgetServed();

  // Constant after construction.
  boost::asio::io_context& loop_;
  const Options options_;
  const IdentityStore identity_store_;
  const std::unique_ptr<counters::CounterMemory> counters_;

  // Supervision loop only.
  EventQueue events_;
  CounterCollector collector_;
  LauncherClient launcher_;
  PoolSupervisor pools_;
  ListenerSupervisor listener_;
  DesiredState desired_;
  ControlSession session_;
  Enrolment enrolment_;
  boost::asio::steady_timer recheck_timer_;
  boost::asio::steady_timer reopen_timer_;
  std::optional<Identity> identity_;
  std::optional<Inventory> inventory_;
  std::string replica_path_;
  std::unique_ptr<replica::Reader> reader_;
  bool begun_ = false;
  bool setting_aside_ = false;
  v1::Position position_;
  v1::Marks marks_;
  std::shared_ptr<MetricsServer> metrics_;
  std::int64_t served_revision_ = 0;  // by the listener; told once the endpoints are settled

  // Last, so that its thread ends first.
  ReplicaThread replica_;
};

}  // namespace croft::node::agent
