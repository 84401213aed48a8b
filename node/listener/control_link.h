// The listener's end of the agent's control channel: takes the agent's messages to the loops, and
// the loops' to the agent. Main thread only.
#pragma once

#include <absl/status/status.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <string>
#include <vector>

#include "croft/node/v1/channel.pb.h"
#include "node/counters/counter_memory.h"
#include "node/link/channel.h"
#include "node/link/send_queue.h"
#include "node/listener/loop_set.h"
#include "node/listener/outbox.h"
#include "proto/base/unique_fd.h"

namespace croft::node::listener {

class ControlLink {
 public:
  ControlLink(boost::asio::io_context& io, UniqueFd channel, counters::CounterMemory& counters);

  void Start();
  // Null until the agent's ListenerSetup.
  LoopSet* loops() { return loops_.get(); }
  // The io_context stops when the channel ends or breaks; this says why.
  const absl::Status& ended() const { return ended_; }

 private:
  void WaitReadable();
  void ReceiveAll();
  absl::Status Handle(link::Received received);
  absl::Status OnSetup(const v1::ListenerSetup& setup);
  absl::Status OnChanged(v1::ReplicaChanged change);
  void SendAll();
  void WaitWritable();
  void End(absl::Status why);

  static constexpr std::size_t kWaitingMax = 256;

  boost::asio::io_context& io_;
  link::Channel channel_;
  link::SendQueue<v1::ListenerToAgent> sending_;
  boost::asio::posix::stream_descriptor events_;  // readiness of the channel's descriptor
  counters::CounterMemory& counters_;
  Outbox outbox_;
  std::unique_ptr<LoopSet> loops_;
  std::string replica_path_;
  v1::Position position_;  // of the last change that was obeyed
  bool waiting_writable_ = false;
  absl::Status ended_;
};

}  // namespace croft::node::listener
