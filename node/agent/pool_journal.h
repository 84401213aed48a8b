// What happens to workers, told where operators look: events for control and the pool's counters.
// Supervision thread only.
#pragma once

#include <absl/status/status.h>

#include "croft/node/v1/launcher.pb.h"
#include "node/agent/event_queue.h"
#include "node/agent/pool_plan.h"
#include "node/counters/counter_memory.h"

namespace croft::node::agent {

class PoolJournal {
 public:
  PoolJournal(EventQueue& events, counters::CounterMemory& counters)
      : events_(events), counters_(counters) {}

  void OnRegistered(const PoolSpec& pool, const v1::Process& process, bool adopted);
  void OnStartRefused(const PoolSpec& pool, const absl::Status& status);
  void OnKilled(const PoolSpec& pool, const WorkerState& worker, KillReason reason);
  // `worker` as it was before.
  void OnExited(const PoolSpec& pool, const WorkerState& worker, const v1::ProcessExited& exited);
  // In the worker's own words.
  void OnWorkerEvent(const PoolSpec& pool, const v1::ChannelEvent& event);

 private:
  counters::Row CountersOf(const PoolSpec& pool) {
    return counters_.GetRow(counters::InstanceType::kPool, pool.uid);
  }

  EventQueue& events_;
  counters::CounterMemory& counters_;
};

}  // namespace croft::node::agent
