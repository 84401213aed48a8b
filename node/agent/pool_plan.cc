#include "node/agent/pool_plan.h"

#include <algorithm>

namespace croft::node::agent {
namespace {

bool NeedsWorkers(const PoolState& pool) {
  return pool.spec.started && !pool.removed && (pool.spec.always_running || pool.demanded);
}

bool IsCurrent(const PoolState& pool, const WorkerState& worker) {
  return worker.max_concurrent_requests == pool.spec.max_concurrent_requests;
}

void WakeAt(TimePoint when, PoolPlan& plan) {
  plan.wake = plan.wake.has_value() ? std::min(*plan.wake, when) : when;
}

struct Census {
  int coming = 0;       // starting, current
  int ready = 0;        // ready, current
  int stale_ready = 0;  // ready, with settings of before
  int leaving = 0;      // draining or stopping
  int stuck = 0;        // killed, not yet gone
};

Census Count(const PoolState& pool) {
  Census census;
  for (const WorkerState& worker : pool.workers) {
    switch (worker.phase) {
      case WorkerPhase::kStarting:
        census.coming += 1;
        break;
      case WorkerPhase::kReady:
        (IsCurrent(pool, worker) ? census.ready : census.stale_ready) += 1;
        break;
      case WorkerPhase::kDraining:
      case WorkerPhase::kStopping:
        census.leaving += 1;
        break;
      case WorkerPhase::kKilled:
        census.stuck += 1;
        break;
    }
  }
  return census;
}

void PlanStarts(const PoolState& pool, const Census& census, TimePoint now, PoolPlan& plan) {
  const int target = NeedsWorkers(pool) ? pool.spec.max_workers : 0;
  const int have = census.coming + census.ready + pool.starts_pending;
  // What leaves or is stuck may be replaced, within bounds.
  const int room = pool.spec.max_workers + kStuckReplacementsMax - census.stuck - have;
  const int starts = std::min(target - have, room);
  if (starts <= 0) {
    return;
  }
  if (now < pool.not_before) {
    WakeAt(pool.not_before, plan);
    return;
  }
  plan.starts = starts;
}

// Surplus workers go, the newest first; stale ones once as many current ones are ready.
void PlanDrains(const PoolState& pool, const Census& census, PoolPlan& plan) {
  const int target = NeedsWorkers(pool) ? pool.spec.max_workers : 0;
  int surplus = census.ready - target;
  for (auto worker = pool.workers.rbegin(); worker != pool.workers.rend(); ++worker) {
    if (worker->phase != WorkerPhase::kReady) {
      continue;
    }
    if (!IsCurrent(pool, *worker)) {
      if (census.ready >= target) {
        plan.drains.push_back(worker->process_id);
      }
    } else if (surplus > 0) {
      plan.drains.push_back(worker->process_id);
      surplus -= 1;
    }
  }
}

void PlanReadyWorker(const PoolSpec& spec, const WorkerState& worker, TimePoint now,
                     PoolPlan& plan) {
  if (worker.ping_sent.has_value()) {
    const TimePoint late = *worker.ping_sent + spec.ping_response;
    if (now >= late) {
      plan.kills.push_back({worker.process_id, KillReason::kPing});
    } else {
      WakeAt(late, plan);
    }
    return;
  }
  const TimePoint due = worker.heard + spec.ping_interval;
  if (now >= due) {
    plan.pings.push_back(worker.process_id);
    WakeAt(now + spec.ping_response, plan);
  } else {
    WakeAt(due, plan);
  }
}

void PlanWorker(const PoolState& pool, const WorkerState& worker, bool listening, TimePoint now,
                PoolPlan& plan) {
  const PoolSpec& spec = pool.spec;
  switch (worker.phase) {
    case WorkerPhase::kStarting: {
      const TimePoint late = worker.phase_since + spec.startup_limit;
      if (!NeedsWorkers(pool)) {
        plan.stops.push_back(worker.process_id);
      } else if (now >= late) {
        plan.kills.push_back({worker.process_id, KillReason::kStartup});
      } else {
        WakeAt(late, plan);
      }
      return;
    }
    case WorkerPhase::kReady:
      PlanReadyWorker(spec, worker, now, plan);
      return;
    case WorkerPhase::kDraining:
    case WorkerPhase::kStopping: {
      const TimePoint late = worker.phase_since + spec.shutdown_limit;
      if (now >= late) {
        plan.kills.push_back({worker.process_id, KillReason::kShutdown});
        return;
      }
      if (worker.phase == WorkerPhase::kDraining && (worker.drained || !listening)) {
        plan.stops.push_back(worker.process_id);
      }
      WakeAt(late, plan);
      return;
    }
    case WorkerPhase::kKilled:
      return;  // never waited for
  }
}

}  // namespace

PoolSpec MakePoolSpec(std::int64_t uid, const croft::v1::ApplicationPool& pool) {
  const PoolSpec defaults;
  const croft::v1::PoolProcesses& processes = pool.processes();
  PoolSpec spec;
  spec.uid = uid;
  spec.name = pool.name();
  spec.identity = pool.identity();
  spec.started = pool.state() != croft::v1::STOPPED;
  spec.always_running = pool.start_mode() == croft::v1::ALWAYS_RUNNING;
  if (pool.has_queue_length()) spec.queue_length = pool.queue_length();
  if (pool.has_max_concurrent_requests()) {
    spec.max_concurrent_requests = pool.max_concurrent_requests();
  }
  if (processes.has_max_workers()) {
    spec.max_workers = static_cast<int>(std::clamp<std::int64_t>(processes.max_workers(), 1, 64));
  }
  const auto limit = [](bool has, std::int64_t value, milliseconds otherwise) {
    return has ? milliseconds(std::clamp<std::int64_t>(value, 1000, 86'400'000)) : otherwise;
  };
  spec.ping_interval =
      limit(processes.has_ping_interval(), processes.ping_interval(), defaults.ping_interval);
  spec.ping_response =
      limit(processes.has_ping_response(), processes.ping_response(), defaults.ping_response);
  spec.startup_limit =
      limit(processes.has_startup_limit(), processes.startup_limit(), defaults.startup_limit);
  spec.shutdown_limit =
      limit(processes.has_shutdown_limit(), processes.shutdown_limit(), defaults.shutdown_limit);
  return spec;
}

PoolPlan PlanPool(const PoolState& pool, bool listening, TimePoint now) {
  PoolPlan plan;
  const Census census = Count(pool);
  PlanStarts(pool, census, now, plan);
  PlanDrains(pool, census, plan);
  for (const WorkerState& worker : pool.workers) {
    PlanWorker(pool, worker, listening, now, plan);
  }
  return plan;
}

v1::PoolUpdate BuildPoolUpdate(const PoolState& pool) {
  v1::PoolUpdate update;
  update.set_pool_uid(pool.spec.uid);
  update.set_started(pool.spec.started && !pool.removed);
  update.set_queue_length(pool.spec.queue_length);
  update.set_max_concurrent_requests(pool.spec.max_concurrent_requests);
  for (const WorkerState& worker : pool.workers) {
    if (worker.phase != WorkerPhase::kReady && worker.phase != WorkerPhase::kDraining) {
      continue;
    }
    v1::PoolWorker* entry = update.add_workers();
    entry->set_process_id(worker.process_id);
    entry->set_socket_path(worker.socket_path);
    entry->set_uid(worker.uid);
    entry->set_draining(worker.phase == WorkerPhase::kDraining);
  }
  update.set_removed(pool.removed && update.workers().empty());
  return update;
}

milliseconds RestartDelay(int failures) {
  if (failures <= 0) {
    return milliseconds(0);
  }
  constexpr milliseconds kFirst{50};
  constexpr milliseconds kMost{30'000};
  return failures > 10 ? kMost : std::min(kMost, kFirst * (1 << (failures - 1)));
}

}  // namespace croft::node::agent
