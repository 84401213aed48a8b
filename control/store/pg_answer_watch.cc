#include "control/store/pg_answer_watch.h"

#include <pthread.h>
#include <sys/socket.h>

namespace croft::control::store {

AnswerWatch::AnswerWatch() : thread_([this](const std::stop_token& stop) { Run(stop); }) {}

AnswerWatch::Turn::Turn(AnswerWatch& watch, int socket, std::chrono::milliseconds limit)
    : watch_(watch) {
  const std::lock_guard lock(watch_.mutex_);
  entry_ = watch_.watched_.insert(watch_.watched_.end(),
                                  {socket, std::chrono::steady_clock::now() + limit, false});
}

AnswerWatch::Turn::~Turn() {
  const std::lock_guard lock(watch_.mutex_);
  watch_.watched_.erase(entry_);
}

bool AnswerWatch::Turn::expired() const {
  const std::lock_guard lock(watch_.mutex_);
  return entry_->expired;
}

void AnswerWatch::Run(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "db-watch");
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    tick_.wait_for(lock, stop, kInterval, [] { return false; });
    const auto now = std::chrono::steady_clock::now();
    for (Watched& watched : watched_) {
      if (!watched.expired && now >= watched.deadline) {
        watched.expired = true;
        ::shutdown(watched.socket, SHUT_RDWR);
      }
    }
  }
}

}  // namespace croft::control::store
