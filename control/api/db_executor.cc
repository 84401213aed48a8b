#include "control/api/db_executor.h"

#include <pthread.h>

#include <utility>

namespace croft::control::api {

DbExecutor::DbExecutor(ExecutorLimits limits) : queued_max_(limits.queued_max) {
  for (std::size_t i = 0; i < limits.threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { Run(stop); });
  }
}

DbExecutor::~DbExecutor() {
  for (std::jthread& thread : threads_) {
    thread.request_stop();
  }
  for (std::jthread& thread : threads_) {
    thread.join();
  }
}

DbExecutor::Load DbExecutor::load() const {
  const std::lock_guard lock(mutex_);
  return {.queued = queue_.size(),
          .queued_max = queued_max_,
          .running = running_,
          .threads = threads_.size(),
          .refused = refused_};
}

bool DbExecutor::TryPush(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= queued_max_) {
      ++refused_;
      return false;
    }
    queue_.push_back(std::move(work));
  }
  filled_.notify_one();
  return true;
}

void DbExecutor::Run(const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "db");
  for (;;) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      filled_.wait(lock, stop, [this] { return !queue_.empty(); });
      if (queue_.empty()) {
        return;
      }
      work = std::move(queue_.front());
      queue_.pop_front();
      ++running_;
    }
    work();
    const std::lock_guard lock(mutex_);
    --running_;
  }
}

}  // namespace croft::control::api
