// Runs the workers of all pools: compares what the plan (pool_plan.h) wants with what runs, and
// carries it out through the launcher and the workers' control channels. Edges only mark a pool;
// one pass per wake decides. Supervision thread only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "node/agent/counter_collector.h"
#include "node/agent/event_queue.h"
#include "node/agent/launcher_client.h"
#include "node/agent/pool_journal.h"
#include "node/agent/pool_plan.h"
#include "node/counters/counter_memory.h"
#include "proto/base/clock.h"

namespace croft::node::agent {

// What the supervisors of workers and of the listener share. All outlive them.
struct SupervisionTools {
  boost::asio::io_context& loop;
  const Clock& clock;
  LauncherClient& launcher;
  CounterCollector& collector;
  // The agent's own rows.
  counters::CounterMemory& counters;
  EventQueue& events;
};

class PoolSupervisor {
 public:
  // `on_update`: the listener must see the pool again (BuildUpdate).
  PoolSupervisor(SupervisionTools tools, std::function<void(std::int64_t pool_uid)> on_update);
  ~PoolSupervisor();

  // Facts of the node, before anything else.
  void SetIdentities(bool separate, std::uint32_t listener_uid);
  // A worker that outlived the agent before. It serves on, and is pinged at once.
  void Adopt(StartedProcess process);

  // Pools as the replica has them; those missing are drained and forgotten.
  void SetPools(const std::map<std::int64_t, PoolSpec>& pools);
  // Whether a listener runs that tells when a worker is drained.
  void SetListening(bool listening);
  void OnDemand(std::int64_t pool_uid);
  void OnDrained(std::uint64_t process_id);
  // True if the process was one of its workers.
  bool OnExited(const v1::ProcessExited& exited);

  std::vector<std::int64_t> ListPools() const;
  // nullopt for a pool it has forgotten.
  std::optional<v1::PoolUpdate> BuildUpdate(std::int64_t pool_uid) const;

 private:
  struct Worker {
    std::int64_t pool_uid = 0;
    std::shared_ptr<MessageChannel> channel;
    std::uint64_t ping_sequence = 0;
    // Events it has told in the minute that began then.
    int events = 0;
    TimePoint events_since;
  };
  // A worker runs what tenants wrote; more than this is not told.
  static constexpr int kEventsPerMinuteMax = 20;

  void Mark(std::int64_t pool_uid);
  void RunPass();
  void Execute(PoolState& pool, const PoolPlan& plan);
  void ArmTimer();

  void StartWorker(PoolState& pool);
  void OnStarted(std::int64_t pool_uid, absl::StatusOr<StartedProcess> started);
  void Register(PoolState& pool, StartedProcess process, bool adopted);
  void OpenChannel(std::uint64_t process_id, UniqueFd socket);
  void SendSetup(const PoolState& pool, const WorkerState& worker);
  void OnWorkerMessage(std::uint64_t process_id, const link::Received& received);
  void OnWorkerEvent(Worker& worker, const v1::ChannelEvent& event);
  void Ping(WorkerState& worker);
  void Kill(PoolState& pool, WorkerState& worker, KillReason reason);
  void NoteFailure(PoolState& pool, TimePoint started);
  WorkerState* FindWorker(std::uint64_t process_id);

  // Constant after construction.
  const SupervisionTools tools_;
  const std::function<void(std::int64_t)> on_update_;

  // Supervision thread only.
  PoolJournal journal_;
  boost::asio::steady_timer timer_;
  bool separate_identities_ = false;
  std::uint32_t listener_uid_ = 0;
  bool listening_ = false;
  std::map<std::int64_t, PoolState> pools_;
  std::unordered_map<std::uint64_t, Worker> workers_;
  std::set<std::int64_t> marked_;
  std::map<std::int64_t, TimePoint> wakes_;
  bool pass_posted_ = false;
};

}  // namespace croft::node::agent
