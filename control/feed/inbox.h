// What happened since the feed's last round, queued by any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

#include "control/feed/feed.h"
#include "control/feed/waits.h"

namespace croft::control::feed {

struct StreamOpened {
  Feed::SessionId session;
  NodeIdentity node;
  std::shared_ptr<Transport> transport;
};
struct MessageReceived {
  Feed::SessionId session;
  node::v1::NodeMessage message;
};
struct MessageSent {
  Feed::SessionId session;
};
struct StreamClosed {
  Feed::SessionId session;
};
struct StoreChanged {};
struct RetryAsked {
  std::int64_t node_uid;
  node::v1::RecordKey key;
};

using FeedEvent = std::variant<StreamOpened, MessageReceived, MessageSent, StreamClosed,
                               StoreChanged, RetryAsked, PendingWait>;

class Inbox {
 public:
  void Push(FeedEvent event) {
    {
      const std::lock_guard lock(mutex_);
      events_.push_back(std::move(event));
    }
    filled_.notify_one();
  }
  std::vector<FeedEvent> TakeAll() {
    const std::lock_guard lock(mutex_);
    return std::exchange(events_, {});
  }
  bool empty() {
    const std::lock_guard lock(mutex_);
    return events_.empty();
  }
  void Wait(std::chrono::milliseconds at_most) {
    std::unique_lock lock(mutex_);
    filled_.wait_for(lock, at_most, [this] { return !events_.empty(); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::vector<FeedEvent> events_;
};

}  // namespace croft::control::feed
