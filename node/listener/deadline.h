// The one deadline a coroutine waits under; ringing its Wakeup when it passes. One loop only.
#pragma once

#include <utility>

#include "node/listener/timer_wheel.h"
#include "node/listener/wakeup.h"

namespace croft::node::listener {

class Deadline final : public Timed {
 public:
  Deadline(TimerWheel& wheel, Wakeup& wakeup) : wheel_(wheel), wakeup_(wakeup) {}

  void Set(TimePoint when) {
    expired_ = false;
    wheel_.Set(*this, when);
  }
  void Clear() {
    expired_ = false;
    wheel_.Clear(*this);
  }
  bool expired() const { return expired_; }

  void OnDeadline() override {
    expired_ = true;
    wakeup_.Ring();
  }

 private:
  TimerWheel& wheel_;
  Wakeup& wakeup_;
  bool expired_ = false;
};

}  // namespace croft::node::listener
