#include "node/agent/message_channel.h"

#include <boost/asio/post.hpp>
#include <optional>
#include <utility>

namespace croft::node::agent {

using boost::asio::posix::stream_descriptor;

std::shared_ptr<MessageChannel> MessageChannel::Open(boost::asio::io_context& loop, UniqueFd socket,
                                                     Callbacks callbacks) {
  auto channel =
      std::make_shared<MessageChannel>(OnlyByOpen{}, loop, std::move(socket), std::move(callbacks));
  channel->WaitReadable();
  return channel;
}

MessageChannel::MessageChannel(OnlyByOpen, boost::asio::io_context& loop, UniqueFd socket,
                               Callbacks callbacks)
    : loop_(loop),
      channel_(std::move(socket)),
      waiter_(loop, channel_.fd()),
      callbacks_(std::move(callbacks)) {}

bool MessageChannel::Send(const google::protobuf::MessageLite& message,
                          std::vector<UniqueFd> descriptors) {
  if (closed_ || queue_.size() >= kQueuedMax) {
    return false;
  }
  if (queue_.empty()) {
    const absl::Status status = SendNow(message, descriptors);
    if (status.ok()) {
      return true;
    }
    if (!absl::IsResourceExhausted(status)) {
      boost::asio::post(loop_, [self = shared_from_this(), status] { self->Fail(status); });
      return false;
    }
    WaitWritable();
  }
  std::unique_ptr<google::protobuf::MessageLite> copy(message.New());
  copy->CheckTypeAndMergeFrom(message);
  queue_.push_back(Outgoing{std::move(copy), std::move(descriptors)});
  return true;
}

absl::Status MessageChannel::SendNow(const google::protobuf::MessageLite& message,
                                     const std::vector<UniqueFd>& descriptors) {
  std::vector<int> numbers;
  numbers.reserve(descriptors.size());
  for (const UniqueFd& descriptor : descriptors) {
    numbers.push_back(descriptor.get());
  }
  return channel_.Send(message, numbers);
}

void MessageChannel::WaitReadable() {
  waiter_.async_wait(stream_descriptor::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       if (!error && !self->closed_) {
                         self->OnReadable();
                       }
                     });
}

void MessageChannel::OnReadable() {
  for (int i = 0; i < kReceivedAtOnceMax; ++i) {
    absl::StatusOr<std::optional<link::Received>> received = channel_.Receive();
    if (!received.ok()) {
      Fail(received.status());
      return;
    }
    if (!received->has_value()) {
      break;
    }
    callbacks_.on_message(*std::move(*received));
    if (closed_) {
      return;
    }
  }
  WaitReadable();
}

void MessageChannel::WaitWritable() {
  waiter_.async_wait(stream_descriptor::wait_write,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       if (!error && !self->closed_) {
                         self->Flush();
                       }
                     });
}

void MessageChannel::Flush() {
  while (!queue_.empty()) {
    const absl::Status status = SendNow(*queue_.front().message, queue_.front().descriptors);
    if (absl::IsResourceExhausted(status)) {
      WaitWritable();
      return;
    }
    if (!status.ok()) {
      Fail(status);
      return;
    }
    queue_.pop_front();
  }
  if (callbacks_.on_writable) {
    callbacks_.on_writable();
  }
}

void MessageChannel::Fail(const absl::Status& status) {
  if (closed_) {
    return;
  }
  const auto on_closed = std::move(callbacks_.on_closed);
  Close();
  if (on_closed) {
    on_closed(status);
  }
}

void MessageChannel::Close() {
  if (closed_) {
    return;
  }
  closed_ = true;
  boost::system::error_code ignored;
  waiter_.cancel(ignored);
  waiter_.release();
  queue_.clear();
}

}  // namespace croft::node::agent
