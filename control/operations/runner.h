// The thread that lets a Worker work. When destroyed it ends after the batch under way; what is
// left is taken up by another instance, or by the next start.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "control/operations/waits.h"
#include "control/operations/worker.h"

namespace croft::control::operations {

class Runner {
 public:
  // All must outlive it.
  Runner(store::Store& store, domain::Access& access, const Clock& clock, Waits& waits);

  // There may be something new. Any thread.
  void Wake();

 private:
  void Run(const std::stop_token& stop);
  // Until woken, told to stop, or the time is over.
  void Pause(const std::stop_token& stop, std::chrono::milliseconds at_most);

  Worker worker_;  // of the thread
  Waits& waits_;

  std::mutex mutex_;  // protects woken_
  std::condition_variable_any wake_;
  bool woken_ = false;

  std::jthread thread_;  // last: it uses all above
};

}  // namespace croft::control::operations
