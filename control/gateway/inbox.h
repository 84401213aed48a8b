// From any thread to one coroutine: values pushed into an inbox are taken by its reader, which
// lives in the coroutine and goes with it. What is pushed afterwards is dropped, so that whoever
// answers need not know whether the connection is still there.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>

namespace croft::control::gateway {

using Deadline = std::chrono::steady_clock::time_point;

// Shut before the loops go: from there on nothing is posted to them. Thread-safe.
class Door {
 public:
  template <typename Function>
  void IfOpen(Function function) {
    const std::shared_lock lock(mutex_);
    if (open_) {
      function();
    }
  }
  void Shut() {
    const std::unique_lock lock(mutex_);
    open_ = false;
  }

 private:
  std::shared_mutex mutex_;  // protects open_
  bool open_ = true;
};

// Thread-safe.
template <typename T>
class Inbox : public std::enable_shared_from_this<Inbox<T>> {
 public:
  Inbox(std::shared_ptr<Door> door, boost::asio::steady_timer& timer)
      : door_(std::move(door)), timer_(&timer) {}

  void Push(T value) {
    door_->IfOpen([&] {
      const std::lock_guard lock(mutex_);
      if (timer_ == nullptr) {
        return;
      }
      values_.push_back(std::move(value));
      boost::asio::post(timer_->get_executor(), [self = this->shared_from_this()] {
        const std::lock_guard ring(self->mutex_);
        if (self->timer_ != nullptr) {
          self->timer_->cancel();
        }
      });
    });
  }

  std::optional<T> Pop() {
    const std::lock_guard lock(mutex_);
    if (values_.empty()) {
      return std::nullopt;
    }
    std::optional<T> value = std::move(values_.front());
    values_.pop_front();
    return value;
  }

  void Detach() {
    const std::lock_guard lock(mutex_);
    timer_ = nullptr;
    values_.clear();
  }

 private:
  const std::shared_ptr<Door> door_;

  std::mutex mutex_;  // protects all below
  boost::asio::steady_timer* timer_;
  std::deque<T> values_;
};

// On the coroutine's strand only.
template <typename T>
class InboxReader {
 public:
  InboxReader(const boost::asio::any_io_executor& strand, std::shared_ptr<Door> door)
      : timer_(strand), inbox_(std::make_shared<Inbox<T>>(std::move(door), timer_)) {}
  ~InboxReader() { inbox_->Detach(); }
  InboxReader(const InboxReader&) = delete;
  InboxReader& operator=(const InboxReader&) = delete;

  const std::shared_ptr<Inbox<T>>& inbox() const { return inbox_; }

  // nullopt at the deadline.
  boost::asio::awaitable<std::optional<T>> Take(Deadline deadline) {
    for (;;) {
      if (auto value = inbox_->Pop(); value.has_value()) {
        co_return value;
      }
      timer_.expires_at(deadline);
      const auto [rung] =
          co_await timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
      if (!rung) {
        co_return inbox_->Pop();
      }
    }
  }

 private:
  boost::asio::steady_timer timer_;
  const std::shared_ptr<Inbox<T>> inbox_;
};

}  // namespace croft::control::gateway
