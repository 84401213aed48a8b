#include "node/listener/pool_queue.h"

#include <algorithm>
#include <utility>

namespace croft::node::listener {

using counters::PoolCounter;

PoolQueue::PoolQueue(const Context& context, std::shared_ptr<PoolState> state)
    : context_(context), state_(std::move(state)) {}

PoolQueue::~PoolQueue() { Close(); }

void PoolQueue::Submit(Exchange& exchange, bool again) {
  exchange.pool = this;
  if (state_->removed || !state_->started) {
    state_->row.Add(PoolCounter::kRejectedStoppedTotal);
    exchange.Fail(state_->removed ? Failure::kPoolRemoved : Failure::kPoolStopped);
    return;
  }
  exchange.queued_at = LoopCore::Now();
  if (queue_.empty() && Start(exchange)) {
    return;
  }
  if (!state_->TakeQueuePlace(context_.loop)) {
    state_->row.Add(PoolCounter::kRejectedQueueFullTotal);
    exchange.Fail(Failure::kQueueFull);
    return;
  }
  exchange.place = Exchange::Place::kQueued;
  if (again) {
    queue_.push_front(exchange);
  } else {
    queue_.push_back(exchange);
  }
  AskForWorker();
  // A worker that takes no connection yet, or a place that was freed elsewhere meanwhile.
  context_.core.wheel().Set(*this, LoopCore::Now() + kRetryPause);
}

bool PoolQueue::Start(Exchange& exchange) {
  const std::int64_t most = state_->max_concurrent.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    WorkerConnection& candidate = *workers_[(next_worker_ + i) % workers_.size()];
    WorkerState& worker = candidate.worker();
    if (worker.draining || worker.in_flight.load(std::memory_order_relaxed) >= most ||
        !candidate.Ready(most) || !state_->TakeWorkerPlace(worker)) {
      continue;
    }
    next_worker_ = (next_worker_ + i + 1) % workers_.size();
    candidate.Submit(exchange);
    return true;
  }
  return false;
}

void PoolQueue::Dispatch() {
  if (std::exchange(dispatching_, true)) {
    return;  // a failing start led back here
  }
  while (!queue_.empty()) {
    Exchange& first = queue_.front();
    // Out of the queue before it starts: its lists share a hook.
    queue_.pop_front();
    if (!Start(first)) {
      queue_.push_front(first);
      break;
    }
    state_->LeaveQueue(context_.loop);
    state_->row.Add(
        PoolCounter::kQueueWaitMicrosTotal,
        std::chrono::duration_cast<std::chrono::microseconds>(LoopCore::Now() - first.queued_at)
            .count());
  }
  dispatching_ = false;
}

void PoolQueue::Cancel(Exchange& exchange) {
  switch (exchange.place) {
    case Exchange::Place::kNowhere:
      return;
    case Exchange::Place::kQueued:
      LeaveQueue(exchange);
      return;
    case Exchange::Place::kInFlight:
      WorkerConnection* carrier = exchange.carrier;
      exchange.session->Cancel(exchange);
      carrier->Touch();
      return;
  }
}

void PoolQueue::LeaveQueue(Exchange& exchange) {
  exchange.unlink();
  exchange.place = Exchange::Place::kNowhere;
  state_->LeaveQueue(context_.loop);
}

void PoolQueue::FailQueued(Failure why) {
  while (!queue_.empty()) {
    Exchange& first = queue_.front();
    LeaveQueue(first);
    first.Fail(why);
  }
}

void PoolQueue::Apply(const WorkerStates& workers) {
  std::vector<std::shared_ptr<WorkerConnection>> kept;
  for (const std::shared_ptr<WorkerState>& worker : workers) {
    const auto known = std::find_if(workers_.begin(), workers_.end(), [&](const auto& connection) {
      return connection != nullptr && connection->worker().process_id == worker->process_id;
    });
    if (known != workers_.end()) {
      kept.push_back(std::move(*known));
    } else {
      kept.push_back(
          std::make_shared<WorkerConnection>(context_.core, *this, worker, context_.peer));
    }
    if (worker->draining && !kept.back()->stopped()) {
      kept.back()->Stop();
      worker->loops_stopped.fetch_add(1);
      TellIfDrained(*worker);
    }
  }
  for (auto& connection : workers_) {
    if (connection == nullptr) {
      continue;
    }
    // Its process has gone or goes: a connection that is still open may yet finish what it holds.
    connection->Stop();
    if (connection->down()) {
      connection->Detach();
    } else {
      leaving_.push_back(std::move(connection));
    }
  }
  workers_ = std::move(kept);
  if (state_->removed || !state_->started) {
    FailQueued(state_->removed ? Failure::kPoolRemoved : Failure::kPoolStopped);
    return;
  }
  Dispatch();
  if (!queue_.empty()) {
    AskForWorker();
  }
}

void PoolQueue::AskForWorker() {
  const bool usable = std::any_of(workers_.begin(), workers_.end(), [](const auto& connection) {
    return !connection->worker().draining;
  });
  if (!usable && !state_->start_asked.exchange(true)) {
    context_.outbox.AskStart(state_->uid);
  }
}

void PoolQueue::OnStreamsClosed(WorkerConnection& connection, std::int64_t count) {
  WorkerState& worker = connection.worker();
  worker.in_flight.fetch_sub(count);
  state_->row.Add(PoolCounter::kRequestsActive, -count);
  if (worker.draining) {
    TellIfDrained(worker);
    return;
  }
  if (!queue_.empty()) {
    Dispatch();
  } else if (state_->queued.load(std::memory_order_relaxed) > 0) {
    WakeOthers();
  }
}

void PoolQueue::OnDown(WorkerConnection& connection) {
  const auto left = std::find_if(leaving_.begin(), leaving_.end(),
                                 [&](const auto& leaving) { return leaving.get() == &connection; });
  if (left != leaving_.end()) {
    leaving_.erase(left);
  }
  if (!queue_.empty()) {
    context_.core.wheel().Set(*this, LoopCore::Now() + kRetryPause);
  }
}

void PoolQueue::OnDeadline() {
  Dispatch();
  if (!queue_.empty()) {
    context_.core.wheel().Set(*this, LoopCore::Now() + kRetryPause);
  }
}

// Told once, by whichever loop comes last.
void PoolQueue::TellIfDrained(WorkerState& worker) {
  if (worker.loops_stopped.load() >= context_.loops && worker.in_flight.load() == 0 &&
      !worker.drained_told.exchange(true)) {
    context_.outbox.TellDrained(worker.process_id);
  }
}

void PoolQueue::WakeOthers() {
  for (unsigned loop = 0; loop < context_.loops; ++loop) {
    if (loop != context_.loop && state_->queued_by_loop[loop].load() > 0) {
      context_.wake(loop, state_->uid);
      return;
    }
  }
}

void PoolQueue::Close() {
  FailQueued(Failure::kPoolRemoved);
  const auto all = {std::exchange(workers_, {}), std::exchange(leaving_, {})};
  for (const auto& connections : all) {
    for (const auto& connection : connections) {
      connection->Detach();
    }
  }
}

}  // namespace croft::node::listener
