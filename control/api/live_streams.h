// The open streams of every transport, and the thread that gives them their beat: whoever's token
// was revoked is gone within two beats, also where nothing is sent. Thread-safe.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "control/api/db_executor.h"

namespace croft::control::api {

class StreamCall;

class LiveStreams {
 public:
  // The executor runs the beats.
  explicit LiveStreams(DbExecutor& executor);
  // Waits for a beat under way.
  ~LiveStreams();

  void Add(std::weak_ptr<StreamCall> stream);

 private:
  void Run(const std::stop_token& stop);
  void Beat();

  DbExecutor& executor_;

  std::mutex mutex_;  // protects streams_ and beating_
  std::vector<std::weak_ptr<StreamCall>> streams_;
  bool beating_ = false;
  std::condition_variable_any changed_;

  std::jthread thread_;  // last: it uses all above
};

}  // namespace croft::control::api
