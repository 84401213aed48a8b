#include "node/agent/pool_journal.h"

#include <fmt/format.h>

#include <string>

#include "node/agent/exit_status.h"
#include "proto/base/log.h"

namespace croft::node::agent {
namespace {

using counters::PoolCounter;

EventSubject About(const PoolSpec& pool) { return {.site_uid = 0, .pool_uid = pool.uid}; }

}  // namespace

void PoolJournal::OnRegistered(const PoolSpec& pool, const v1::Process& process, bool adopted) {
  CountersOf(pool).Add(PoolCounter::kWorkers);
  if (!adopted) {
    CountersOf(pool).Add(PoolCounter::kWorkersStartedTotal);
  }
  log::Info("agent", adopted ? "worker adopted" : "worker started",
            {{"pool", pool.name},
             {"process", std::to_string(process.process_id())},
             {"worker", std::to_string(process.pid())}});
}

void PoolJournal::OnStartRefused(const PoolSpec& pool, const absl::Status& status) {
  CountersOf(pool).Add(PoolCounter::kStartupFailuresTotal);
  events_.Push("worker_start_failed", About(pool),
               fmt::format("no worker for {}: {}", pool.name, std::string(status.message())));
}

void PoolJournal::OnKilled(const PoolSpec& pool, const WorkerState& worker, KillReason reason) {
  const std::string who = fmt::format("worker {} of {}", worker.process_id, pool.name);
  switch (reason) {
    case KillReason::kStartup:
      CountersOf(pool).Add(PoolCounter::kStartupFailuresTotal);
      events_.Push("worker_start_failed", About(pool),
                   fmt::format("{} was not ready within {} ms and is killed", who,
                               pool.startup_limit.count()));
      return;
    case KillReason::kPing:
      CountersOf(pool).Add(PoolCounter::kPingFailuresTotal);
      events_.Push("worker_ping_failed", About(pool),
                   fmt::format("{} did not answer a ping within {} ms and is killed", who,
                               pool.ping_response.count()));
      return;
    case KillReason::kShutdown:
      CountersOf(pool).Add(PoolCounter::kShutdownFailuresTotal);
      events_.Push("worker_shutdown_failed", About(pool),
                   fmt::format("{} was still busy {} ms after it began to drain and is killed", who,
                               pool.shutdown_limit.count()));
      return;
  }
}

void PoolJournal::OnExited(const PoolSpec& pool, const WorkerState& worker,
                           const v1::ProcessExited& exited) {
  CountersOf(pool).Add(PoolCounter::kWorkers, -1);
  const std::string how = DescribeExit(exited.wait_status());
  const std::string text =
      fmt::format("worker {} (pid {}) of {} {}", worker.process_id, exited.pid(), pool.name, how);
  log::Info("agent", "worker exited",
            {{"pool", pool.name}, {"worker", std::to_string(exited.pid())}, {"err", how}});
  if (worker.phase == WorkerPhase::kKilled) {
    return;  // told when it was killed
  }
  if (worker.phase == WorkerPhase::kStarting) {
    CountersOf(pool).Add(PoolCounter::kStartupFailuresTotal);
    events_.Push("worker_start_failed", About(pool), text + " before it was ready");
  } else if (!IsCleanExit(exited.wait_status())) {
    CountersOf(pool).Add(PoolCounter::kWorkerFailuresTotal);
    events_.Push("worker_crashed", About(pool),
                 worker.phase == WorkerPhase::kReady ? text : text + " while it drained");
  }
}

// Of a kind of its own, so that a worker cannot speak for the agent.
void PoolJournal::OnWorkerEvent(const PoolSpec& pool, const v1::ChannelEvent& event) {
  events_.Push("worker_event", {.site_uid = event.site_uid(), .pool_uid = pool.uid},
               fmt::format("{}: {}", event.kind(), event.message()));
}

}  // namespace croft::node::agent
