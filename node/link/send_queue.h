// What waits until a channel's peer has read: messages in order, with duplicates of their
// descriptors. Bounded by its user, who asks size() before it makes more. One thread only.
#pragma once

#include <fcntl.h>

#include <deque>
#include <utility>
#include <vector>

#include "node/link/channel.h"
#include "proto/base/error.h"

namespace croft::node::link {

template <typename Message>
class SendQueue {
 public:
  explicit SendQueue(Channel& channel) : channel_(channel) {}

  // Sends at once if nothing waits and there is room; keeps the message otherwise. The descriptors
  // stay the caller's.
  absl::Status Send(const Message& message, const std::vector<int>& descriptors = {}) {
    if (waiting_.empty()) {
      const absl::Status status = channel_.Send(message, descriptors);
      if (!absl::IsResourceExhausted(status)) {
        return status;
      }
    }
    Item item{message, {}};
    for (const int fd : descriptors) {
      item.descriptors.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
      if (!item.descriptors.back()) {
        return ErrnoError("keep a descriptor to send");
      }
    }
    waiting_.push_back(std::move(item));
    return absl::OkStatus();
  }

  // Sends what the channel has room for; call it when the channel is writable.
  absl::Status Flush() {
    while (!waiting_.empty()) {
      std::vector<int> descriptors;
      for (const UniqueFd& fd : waiting_.front().descriptors) {
        descriptors.push_back(fd.get());
      }
      const absl::Status status = channel_.Send(waiting_.front().message, descriptors);
      if (absl::IsResourceExhausted(status)) {
        return absl::OkStatus();
      }
      if (!status.ok()) {
        return status;
      }
      waiting_.pop_front();
    }
    return absl::OkStatus();
  }

  std::size_t size() const { return waiting_.size(); }

 private:
  struct Item {
    Message message;
    std::vector<UniqueFd> descriptors;
  };

  Channel& channel_;
  std::deque<Item> waiting_;
};

}  // namespace croft::node::link
