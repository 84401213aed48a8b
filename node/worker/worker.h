// A worker process: takes its setup from the agent, serves until told to drain. Everything it is
// told comes by the control channel; what each request needs comes with the request.
#pragma once

#include <absl/status/statusor.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "croft/node/v1/channel.pb.h"
#include "node/counters/counter_memory.h"
#include "node/link/channel.h"
#include "node/worker/event_loop.h"
#include "node/worker/store/stores.h"
#include "proto/base/clock.h"
#include "proto/base/unique_fd.h"

namespace croft::node::worker {

struct Inherited {
  UniqueFd channel;
  UniqueFd counters;
  UniqueFd listening;
};

class Worker {
  struct Private {};

 public:
  // Waits for WorkerSetup; deadline_exceeded when it does not come.
  static absl::StatusOr<std::unique_ptr<Worker>> Start(Inherited inherited);

  // For Start alone.
  Worker(Private, link::Channel channel, std::unique_ptr<counters::CounterMemory> memory,
         UniqueFd listening, node::v1::WorkerSetup setup);

  // Serves, and ends the process with status 0 when drained. Never returns, since threads of a hung
  // store can't be joined.
  [[noreturn]] void Run();

 private:
  void WatchChannel();
  void OnChannelReadable();
  void OnMessage(const node::v1::AgentToWorker& message);
  void AnswerPing(std::uint64_t sequence, std::size_t loop);
  void Send(const node::v1::WorkerToAgent& message);
  void WatchSignals();
  void Drain();

  // Constant after construction.
  const SystemClock clock_;
  const node::v1::WorkerSetup setup_;
  const std::unique_ptr<counters::CounterMemory> memory_;
  store::Stores stores_;
  std::vector<std::unique_ptr<EventLoop>> loops_;

  // First loop's thread only.
  link::Channel channel_;
  boost::asio::posix::stream_descriptor channel_ready_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer last_resort_;
  std::size_t loops_left_;
  bool draining_ = false;
};

}  // namespace croft::node::worker
