#include "control/api/live_streams.h"

#include <pthread.h>

#include <utility>

#include "control/api/stream_call.h"

namespace croft::control::api {

LiveStreams::LiveStreams(DbExecutor& executor)
    : executor_(executor), thread_([this](const std::stop_token& stop) { Run(stop); }) {}

LiveStreams::~LiveStreams() {
  thread_.request_stop();
  thread_.join();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !beating_; });
}

void LiveStreams::Add(std::weak_ptr<StreamCall> stream) {
  const std::lock_guard lock(mutex_);
  streams_.push_back(std::move(stream));
}

void LiveStreams::Run(const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "streams");
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    changed_.wait_for(lock, stop, kStreamBeat, [] { return false; });
    std::erase_if(streams_, [](const auto& stream) { return stream.expired(); });
    if (stop.stop_requested() || streams_.empty() || beating_) {
      continue;
    }
    // A beat that the executor has no room for is left out.
    beating_ = executor_.TryPush([this] { Beat(); });
  }
}

void LiveStreams::Beat() {
  std::vector<std::weak_ptr<StreamCall>> streams;
  {
    const std::lock_guard lock(mutex_);
    streams = streams_;
  }
  // Whoever may not stay leaves first; turns take longer.
  for (const auto turn : {&StreamCall::CheckCaller, &StreamCall::TakeTurnIfIdle}) {
    for (const std::weak_ptr<StreamCall>& stream : streams) {
      if (const auto call = stream.lock()) {
        ((*call).*turn)();
      }
    }
  }
  const std::lock_guard lock(mutex_);
  beating_ = false;
  changed_.notify_all();
}

}  // namespace croft::control::api
