#include "node/agent/pool_supervisor.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <csignal>
#include <utility>

#include "proto/base/log.h"

namespace croft::node::agent {
namespace {

std::string SourceName(std::uint64_t process_id) { return fmt::format("worker/{}", process_id); }

WorkerState* Find(PoolState& pool, std::uint64_t process_id) {
  const auto worker = std::ranges::find(pool.workers, process_id, &WorkerState::process_id);
  return worker == pool.workers.end() ? nullptr : &*worker;
}

void SetPhase(WorkerState& worker, WorkerPhase phase, TimePoint now) {
  worker.phase = phase;
  worker.phase_since = now;
}

}  // namespace

PoolSupervisor::PoolSupervisor(SupervisionTools tools, std::function<void(std::int64_t)> on_update)
    : tools_(tools),
      on_update_(std::move(on_update)),
      journal_(tools.events, tools.counters),
      timer_(tools.loop) {}

PoolSupervisor::~PoolSupervisor() {
  for (auto& [process_id, worker] : workers_) {
    worker.channel->Close();
  }
}

void PoolSupervisor::SetIdentities(bool separate, std::uint32_t listener_uid) {
  separate_identities_ = separate;
  listener_uid_ = listener_uid;
}

void PoolSupervisor::Adopt(StartedProcess process) {
  PoolState& pool = pools_[process.process.pool_uid()];
  if (pool.spec.uid == 0) {
    // Known by its worker only; SetPools tells whether there is such a pool.
    pool.spec.uid = process.process.pool_uid();
    pool.removed = true;
  }
  pool.demanded = true;
  Register(pool, std::move(process), /*adopted=*/true);
}

void PoolSupervisor::SetPools(const std::map<std::int64_t, PoolSpec>& pools) {
  for (const auto& [uid, spec] : pools) {
    PoolState& pool = pools_[uid];
    if (pool.spec == spec && !pool.removed) {
      continue;
    }
    if (pool.removed) {  // adopted before its specification was known
      for (WorkerState& worker : pool.workers) {
        worker.max_concurrent_requests = spec.max_concurrent_requests;
      }
    }
    pool.spec = spec;
    pool.removed = false;
    pool.demanded = pool.demanded && spec.started;
    on_update_(uid);
    Mark(uid);
  }
  for (auto& [uid, pool] : pools_) {
    if (!pool.removed && !pools.contains(uid)) {
      pool.removed = true;
      on_update_(uid);
    }
    if (pool.removed) {
      Mark(uid);
    }
  }
}

void PoolSupervisor::SetListening(bool listening) {
  if (listening_ == listening) {
    return;
  }
  listening_ = listening;
  for (const auto& [uid, pool] : pools_) {
    if (!pool.workers.empty()) {
      Mark(uid);
    }
  }
}

void PoolSupervisor::OnDemand(std::int64_t pool_uid) {
  const auto pool = pools_.find(pool_uid);
  if (pool == pools_.end() || pool->second.removed || !pool->second.spec.started) {
    return;
  }
  pool->second.demanded = true;
  Mark(pool_uid);
}

void PoolSupervisor::OnDrained(std::uint64_t process_id) {
  WorkerState* worker = FindWorker(process_id);
  if (worker != nullptr && worker->phase == WorkerPhase::kDraining) {
    worker->drained = true;
    Mark(workers_.at(process_id).pool_uid);
  }
}

bool PoolSupervisor::OnExited(const v1::ProcessExited& exited) {
  const auto entry = workers_.find(exited.process_id());
  if (entry == workers_.end()) {
    return exited.kind() == v1::WORKER;
  }
  PoolState& pool = pools_.at(entry->second.pool_uid);
  entry->second.channel->Close();
  workers_.erase(entry);
  tools_.collector.EndSource(SourceName(exited.process_id()));
  if (const WorkerState* worker = Find(pool, exited.process_id()); worker != nullptr) {
    journal_.OnExited(pool.spec, *worker, exited);
    if (worker->phase == WorkerPhase::kStarting || worker->phase == WorkerPhase::kReady) {
      NoteFailure(pool, worker->started);  // a clean exit that nobody asked for is one too
    }
    std::erase_if(pool.workers, [&](const WorkerState& candidate) {
      return candidate.process_id == exited.process_id();
    });
  }
  on_update_(pool.spec.uid);
  Mark(pool.spec.uid);
  return true;
}

std::vector<std::int64_t> PoolSupervisor::ListPools() const {
  std::vector<std::int64_t> uids;
  uids.reserve(pools_.size());
  for (const auto& [uid, pool] : pools_) {
    uids.push_back(uid);
  }
  return uids;
}

std::optional<v1::PoolUpdate> PoolSupervisor::BuildUpdate(std::int64_t pool_uid) const {
  const auto pool = pools_.find(pool_uid);
  if (pool == pools_.end()) {
    return std::nullopt;
  }
  return BuildPoolUpdate(pool->second);
}

void PoolSupervisor::Mark(std::int64_t pool_uid) {
  marked_.insert(pool_uid);
  if (!std::exchange(pass_posted_, true)) {
    boost::asio::post(tools_.loop, [this] { RunPass(); });
  }
}

void PoolSupervisor::RunPass() {
  pass_posted_ = false;
  const TimePoint now = tools_.clock.Monotonic();
  for (const auto& [uid, when] : wakes_) {
    if (when <= now) {
      marked_.insert(uid);
    }
  }
  for (const std::int64_t uid : std::exchange(marked_, {})) {
    wakes_.erase(uid);
    const auto pool = pools_.find(uid);
    if (pool == pools_.end()) {
      continue;
    }
    const PoolPlan plan = PlanPool(pool->second, listening_, now);
    Execute(pool->second, plan);
    if (plan.wake.has_value()) {
      wakes_[uid] = *plan.wake;
    }
    if (pool->second.removed && pool->second.workers.empty() && pool->second.starts_pending == 0) {
      on_update_(uid);
      pools_.erase(pool);
    }
  }
  ArmTimer();
}

void PoolSupervisor::ArmTimer() {
  if (wakes_.empty()) {
    timer_.cancel();
    return;
  }
  const auto next = std::ranges::min_element(
      wakes_, [](const auto& left, const auto& right) { return left.second < right.second; });
  timer_.expires_at(next->second);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) {
      RunPass();
    }
  });
}

void PoolSupervisor::Execute(PoolState& pool, const PoolPlan& plan) {
  const TimePoint now = tools_.clock.Monotonic();
  for (const PoolPlan::Kill& kill : plan.kills) {
    Kill(pool, *Find(pool, kill.process_id), kill.reason);
  }
  for (const std::uint64_t process_id : plan.pings) {
    Ping(*Find(pool, process_id));
  }
  for (const std::uint64_t process_id : plan.drains) {
    WorkerState& worker = *Find(pool, process_id);
    if (worker.phase == WorkerPhase::kReady) {
      SetPhase(worker, WorkerPhase::kDraining, now);
      Mark(pool.spec.uid);
    }
  }
  for (const std::uint64_t process_id : plan.stops) {
    WorkerState& worker = *Find(pool, process_id);
    if (worker.phase == WorkerPhase::kStarting) {
      worker.phase_since = now;
    }
    worker.phase = WorkerPhase::kStopping;  // the limit counts from the drain's begin
    v1::AgentToWorker message;
    message.mutable_drain();
    workers_.at(process_id).channel->Send(message);
    Mark(pool.spec.uid);
  }
  if (!plan.kills.empty() || !plan.drains.empty() || !plan.stops.empty()) {
    on_update_(pool.spec.uid);
  }
  for (int i = 0; i < plan.starts; ++i) {
    StartWorker(pool);
  }
}

void PoolSupervisor::StartWorker(PoolState& pool) {
  pool.starts_pending += 1;
  tools_.launcher.StartWorker(pool.spec.uid, pool.spec.identity,
                              [this, uid = pool.spec.uid](absl::StatusOr<StartedProcess> started) {
                                OnStarted(uid, std::move(started));
                              });
}

void PoolSupervisor::OnStarted(std::int64_t pool_uid, absl::StatusOr<StartedProcess> started) {
  PoolState& pool = pools_[pool_uid];
  pool.starts_pending -= 1;
  Mark(pool_uid);
  if (!started.ok()) {
    journal_.OnStartRefused(pool.spec, started.status());
    NoteFailure(pool, tools_.clock.Monotonic());
    return;
  }
  Register(pool, *std::move(started), /*adopted=*/false);
}

void PoolSupervisor::Register(PoolState& pool, StartedProcess started, bool adopted) {
  const TimePoint now = tools_.clock.Monotonic();
  const v1::Process& process = started.process;
  WorkerState& worker = pool.workers.emplace_back();
  worker.process_id = process.process_id();
  worker.uid = process.uid();
  worker.socket_path = process.socket_path();
  worker.max_concurrent_requests = pool.spec.max_concurrent_requests;
  worker.started = now;
  SetPhase(worker, adopted ? WorkerPhase::kReady : WorkerPhase::kStarting, now);
  workers_[process.process_id()].pool_uid = pool.spec.uid;
  OpenChannel(process.process_id(), std::move(started.channel));
  const absl::Status status =
      tools_.collector.AddSource(SourceName(process.process_id()), started.counters.get());
  if (!status.ok()) {
    log::Warn("agent", "worker is not counted", {{"err", status.ToString()}});
  }
  journal_.OnRegistered(pool.spec, process, adopted);
  SendSetup(pool, worker);
  if (adopted) {
    Ping(worker);
    on_update_(pool.spec.uid);
  }
  Mark(pool.spec.uid);
}

void PoolSupervisor::OpenChannel(std::uint64_t process_id, UniqueFd socket) {
  workers_[process_id].channel = MessageChannel::Open(
      tools_.loop, std::move(socket),
      {.on_message = [this, process_id](
                         const link::Received& received) { OnWorkerMessage(process_id, received); },
       .on_closed = [](const absl::Status&) {},  // its exit, or its next ping, tells
       .on_writable = nullptr});
}

void PoolSupervisor::SendSetup(const PoolState& pool, const WorkerState& worker) {
  v1::AgentToWorker message;
  v1::WorkerSetup& setup = *message.mutable_setup();
  setup.set_pool_uid(pool.spec.uid);
  setup.set_pool_name(pool.spec.name);
  setup.set_max_concurrent_requests(pool.spec.max_concurrent_requests);
  setup.set_listener_uid(listener_uid_);
  setup.set_separate_identities(separate_identities_);
  setup.set_process_id(worker.process_id);
  workers_.at(worker.process_id).channel->Send(message);
}

void PoolSupervisor::OnWorkerMessage(std::uint64_t process_id, const link::Received& received) {
  v1::WorkerToAgent message;
  WorkerState* worker = FindWorker(process_id);
  if (worker == nullptr || !link::ParseMessage(received.bytes, message).ok()) {
    return;  // a worker that sends nonsense is not heard, and so fails its ping
  }
  Worker& entry = workers_.at(process_id);
  const TimePoint now = tools_.clock.Monotonic();
  if (message.has_ready() && worker->phase == WorkerPhase::kStarting) {
    SetPhase(*worker, WorkerPhase::kReady, now);
    worker->heard = now;
    on_update_(entry.pool_uid);
    Mark(entry.pool_uid);
  } else if (message.has_pong() && message.pong().sequence() == entry.ping_sequence) {
    worker->ping_sent.reset();
    worker->heard = now;
    Mark(entry.pool_uid);
  } else if (message.has_event()) {
    OnWorkerEvent(entry, message.event());
  }
}

void PoolSupervisor::OnWorkerEvent(Worker& worker, const v1::ChannelEvent& event) {
  const TimePoint now = tools_.clock.Monotonic();
  if (now - worker.events_since >= std::chrono::minutes(1)) {
    worker.events_since = now;
    worker.events = 0;
  }
  if (worker.events < kEventsPerMinuteMax) {
    worker.events += 1;
    journal_.OnWorkerEvent(pools_.at(worker.pool_uid).spec, event);
  }
}

void PoolSupervisor::Ping(WorkerState& worker) {
  Worker& entry = workers_.at(worker.process_id);
  v1::AgentToWorker message;
  message.mutable_ping()->set_sequence(++entry.ping_sequence);
  entry.channel->Send(message);
  worker.ping_sent = tools_.clock.Monotonic();
}

void PoolSupervisor::Kill(PoolState& pool, WorkerState& worker, KillReason reason) {
  journal_.OnKilled(pool.spec, worker, reason);
  if (reason != KillReason::kShutdown) {
    NoteFailure(pool, worker.started);
  }
  tools_.launcher.Kill(worker.process_id, SIGKILL);
  SetPhase(worker, WorkerPhase::kKilled, tools_.clock.Monotonic());
  Mark(pool.spec.uid);
}

void PoolSupervisor::NoteFailure(PoolState& pool, TimePoint started) {
  const TimePoint now = tools_.clock.Monotonic();
  if (now - started >= kStableAfter) {
    pool.failures = 0;
  }
  pool.not_before = now + RestartDelay(pool.failures);
  pool.failures += 1;
}

WorkerState* PoolSupervisor::FindWorker(std::uint64_t process_id) {
  const auto entry = workers_.find(process_id);
  return entry == workers_.end() ? nullptr : Find(pools_.at(entry->second.pool_uid), process_id);
}

}  // namespace croft::node::agent
