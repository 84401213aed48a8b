#include "control/operations/runner.h"

#include <pthread.h>

#include <string>

#include "proto/base/log.h"
#include "proto/base/retry.h"

namespace croft::control::operations {
namespace {

using std::chrono::milliseconds;

// How soon another instance's operations are taken up after its end.
constexpr milliseconds kLookEvery{500};

}  // namespace

Runner::Runner(store::Store& store, domain::Access& access, const Clock& clock, Waits& waits)
    : worker_(store, access, clock),
      waits_(waits),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

void Runner::Wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  wake_.notify_one();
}

void Runner::Pause(const std::stop_token& stop, milliseconds at_most) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, stop, at_most, [this] { return woken_; });
  woken_ = false;
}

void Runner::Run(const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "operations");
  Backoff backoff({.first = milliseconds(50), .most = milliseconds(5000)});
  while (!stop.stop_requested()) {
    const auto step = worker_.Run();
    if (!step.ok()) {
      log::Warn("operations", "a step is tried again", {{"err", step.status().ToString()}});
      Pause(stop, backoff.Next());
      continue;
    }
    backoff.Reset();
    if (*step == Step::kEnded) {
      waits_.Look();
    }
    if (*step == Step::kIdle) {
      Pause(stop, kLookEvery);
    }
  }
}

}  // namespace croft::control::operations
