// What one event loop waits for from stores' threads. Loop thread only, except that threads post
// results into the loop.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "node/worker/store/store_threads.h"
#include "proto/base/clock.h"

namespace croft::node::worker::store {

class StoreWaits {
 public:
  using Ticket = std::uint64_t;
  // true: the job ran; false: the store hangs or the time is up, and the job may still be running.
  using Done = std::function<void(bool finished)>;

  // Both outlive the process's threads.
  StoreWaits(boost::asio::io_context& io, const Clock& clock) : io_(io), clock_(clock), tick_(io) {}

  // An open: given up as soon as the store hangs. nullopt when the store refuses at once; then
  // `done` is not called.
  std::optional<Ticket> StartRequest(const std::shared_ptr<StoreThreads>& threads,
                                     std::shared_ptr<Job> job, Done done);
  // A read of an open file, which is in the middle of a response and so given more time.
  Ticket StartRead(const std::shared_ptr<StoreThreads>& threads, std::shared_ptr<Job> job,
                   Done done);
  // `done` will not be called.
  void Forget(Ticket ticket);

 private:
  using Time = std::chrono::steady_clock::time_point;
  class LoopJob;
  struct Wait {
    std::shared_ptr<StoreThreads> threads;
    std::shared_ptr<LoopJob> job;
    Time deadline;
    bool ends_when_hung = false;
    Done done;
  };

  Ticket Add(const std::shared_ptr<StoreThreads>& threads, const std::shared_ptr<LoopJob>& job,
             Done done, bool ends_when_hung);
  void ArmTick();
  void OnTick();
  void Finish(Ticket ticket, bool finished);

  boost::asio::io_context& io_;
  const Clock& clock_;
  boost::asio::steady_timer tick_;
  bool tick_armed_ = false;
  Ticket next_ticket_ = 1;
  std::unordered_map<Ticket, Wait> waits_;
};

}  // namespace croft::node::worker::store
