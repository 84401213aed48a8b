// A control channel on the supervision loop: messages in by callback, messages out through a
// bounded queue that waits while the peer's socket buffer is full. Loop thread only. Callbacks
// never run inside Send.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/link/channel.h"

namespace croft::node::agent {

class MessageChannel : public std::enable_shared_from_this<MessageChannel> {
  struct OnlyByOpen {};

 public:
  struct Callbacks {
    std::function<void(link::Received)> on_message;
    // The peer is gone or talks nonsense; nothing follows.
    std::function<void(const absl::Status&)> on_closed;
    // The queue, once congested, is empty again. May be empty.
    std::function<void()> on_writable;
  };
  static constexpr std::size_t kQueuedMax = 256;
  // Messages taken in one go, so that one peer cannot keep the loop to itself.
  static constexpr int kReceivedAtOnceMax = 64;

  // Starts reading at once. Kept alive by its pending waits until Close.
  static std::shared_ptr<MessageChannel> Open(boost::asio::io_context& loop, UniqueFd socket,
                                              Callbacks callbacks);

  MessageChannel(OnlyByOpen, boost::asio::io_context& loop, UniqueFd socket, Callbacks callbacks);
  ~MessageChannel() { Close(); }

  // Queues the message. False (and nothing is queued) when the queue is full or the channel is
  // closed: the peer has stopped reading.
  bool Send(const google::protobuf::MessageLite& message, std::vector<UniqueFd> descriptors = {});
  // Something waits for the peer to read.
  bool congested() const { return !queue_.empty(); }
  // No callback runs afterwards.
  void Close();

 private:
  struct Outgoing {
    std::unique_ptr<google::protobuf::MessageLite> message;
    std::vector<UniqueFd> descriptors;
  };
  void WaitReadable();
  void OnReadable();
  void WaitWritable();
  void Flush();
  void Fail(const absl::Status& status);
  absl::Status SendNow(const google::protobuf::MessageLite& message,
                       const std::vector<UniqueFd>& descriptors);

  boost::asio::io_context& loop_;
  link::Channel channel_;
  // Borrows the channel's descriptor.
  boost::asio::posix::stream_descriptor waiter_;
  Callbacks callbacks_;
  std::deque<Outgoing> queue_;
  bool closed_ = false;
};

}  // namespace croft::node::agent
