#include "node/listener/pool_state.h"

#include <algorithm>

namespace croft::node::listener {

using counters::PoolCounter;

PoolState::PoolState(std::int64_t pool_uid, unsigned loops, counters::Row pool_row)
    : uid(pool_uid), row(pool_row), queued_by_loop(loops) {}

bool PoolState::TakeQueuePlace(unsigned loop) {
  if (queued.fetch_add(1) >= queue_length.load(std::memory_order_relaxed)) {
    queued.fetch_sub(1);
    return false;
  }
  queued_by_loop[loop].fetch_add(1);
  row.Add(PoolCounter::kRequestsQueued);
  return true;
}

void PoolState::LeaveQueue(unsigned loop) {
  queued_by_loop[loop].fetch_sub(1);
  queued.fetch_sub(1);
  row.Add(PoolCounter::kRequestsQueued, -1);
}

bool PoolState::TakeWorkerPlace(WorkerState& worker) const {
  if (worker.in_flight.fetch_add(1) >= max_concurrent.load(std::memory_order_relaxed)) {
    worker.in_flight.fetch_sub(1);
    return false;
  }
  row.Add(PoolCounter::kRequestsActive);
  return true;
}

PoolDirectory::Entry& PoolDirectory::Find(std::int64_t uid) {
  Entry& entry = entries_[uid];
  if (entry.state == nullptr) {
    entry.state = std::make_shared<PoolState>(uid, loops_,
                                              counters_.GetRow(counters::InstanceType::kPool, uid));
  }
  return entry;
}

std::shared_ptr<PoolState> PoolDirectory::Get(std::int64_t uid) {
  const std::lock_guard lock(mutex_);
  return Find(uid).state;
}

WorkerStates PoolDirectory::Workers(std::int64_t uid) {
  const std::lock_guard lock(mutex_);
  return Find(uid).workers;
}

WorkerStates PoolDirectory::Apply(const v1::PoolUpdate& update) {
  const std::lock_guard lock(mutex_);
  Entry& entry = Find(update.pool_uid());
  PoolState& state = *entry.state;
  state.started = update.started();
  state.removed = update.removed();
  if (update.queue_length() > 0) {
    state.queue_length = update.queue_length();
  }
  if (update.max_concurrent_requests() > 0) {
    state.max_concurrent = update.max_concurrent_requests();
  }
  WorkerStates workers;
  for (const v1::PoolWorker& told : update.workers()) {
    const auto known =
        std::find_if(entry.workers.begin(), entry.workers.end(),
                     [&](const auto& worker) { return worker->process_id == told.process_id(); });
    workers.push_back(known != entry.workers.end() ? *known : std::make_shared<WorkerState>(told));
    if (told.draining()) {
      workers.back()->draining = true;
    }
  }
  entry.workers = workers;
  state.start_asked = false;
  return workers;
}

}  // namespace croft::node::listener
