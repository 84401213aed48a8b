// One loop's share of a pool: its connections to the pool's workers and the requests that wait here
// for a place at one of them, against limits that all loops share. One loop only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "node/listener/exchange.h"
#include "node/listener/loop_core.h"
#include "node/listener/outbox.h"
#include "node/listener/pool_state.h"
#include "node/listener/worker_connection.h"

namespace croft::node::listener {

class PoolQueue final : public WorkerOwner, public Timed {
 public:
  struct Context {
    LoopCore& core;
    unsigned loop = 0;
    unsigned loops = 1;
    Outbox& outbox;
    WorkerConnection::Peer peer;
    // Lets another loop's PoolQueue of the same pool look for a free place.
    std::function<void(unsigned loop, std::int64_t pool_uid)> wake;
  };

  PoolQueue(const Context& context, std::shared_ptr<PoolState> state);
  ~PoolQueue() override;

  PoolState& state() { return *state_; }
  // Starts it, queues it, or fails it at once. `again`: it was already served its turn, so it goes
  // first.
  void Submit(Exchange& exchange, bool again);
  // Wherever it is, it ends here.
  void Cancel(Exchange& exchange);
  // The agent's list, full state.
  void Apply(const WorkerStates& workers);
  // Starts what there are places for.
  void Dispatch();
  // Fails what waits, cuts what runs.
  void Close();

  void OnStreamsClosed(WorkerConnection& worker, std::int64_t count) override;
  void OnDown(WorkerConnection& worker) override;
  void OnDeadline() override;

 private:
  bool Start(Exchange& exchange);
  void LeaveQueue(Exchange& exchange);
  void FailQueued(Failure why);
  void AskForWorker();
  void TellIfDrained(WorkerState& worker);
  void WakeOthers();

  static constexpr std::chrono::milliseconds kRetryPause{100};

  const Context context_;
  const std::shared_ptr<PoolState> state_;
  std::vector<std::shared_ptr<WorkerConnection>> workers_;
  // Not listed any more, with requests in flight.
  std::vector<std::shared_ptr<WorkerConnection>> leaving_;
  ExchangeList queue_;
  std::size_t next_worker_ = 0;
  bool dispatching_ = false;
};

}  // namespace croft::node::listener
