// How news reaches a sleeping coroutine: it awaits its one Wakeup, and whoever has news (a readable
// socket, a worker's frame, a deadline) rings it. Ringing only queues; the loop resumes what was
// rung when the current event is done with. One loop only.
#pragma once

#include <boost/intrusive/list.hpp>
#include <coroutine>
#include <utility>

namespace croft::node::listener {

namespace intrusive = boost::intrusive;

class Wakeup;

using WakeupHook = intrusive::list_base_hook<intrusive::link_mode<intrusive::auto_unlink>>;

// What was rung and has not run yet.
class ReadyList {
 public:
  // Resumes what is queued, and what that rings, until nothing is.
  void Run();

 private:
  friend class Wakeup;
  intrusive::list<Wakeup, intrusive::base_hook<WakeupHook>, intrusive::constant_time_size<false>>
      rung_;
};

class Wakeup : public WakeupHook {
 public:
  explicit Wakeup(ReadyList& ready) : ready_(ready) {}

  // The awaiting coroutine continues soon; at once at its next await if it is not waiting now.
  void Ring() {
    pending_ = true;
    if (waiter_ && !is_linked()) {
      ready_.rung_.push_back(*this);
    }
  }

  bool await_ready() noexcept { return std::exchange(pending_, false); }
  void await_suspend(std::coroutine_handle<> waiter) noexcept { waiter_ = waiter; }
  void await_resume() noexcept { pending_ = false; }

 private:
  friend class ReadyList;
  ReadyList& ready_;
  std::coroutine_handle<> waiter_;
  bool pending_ = false;
};

inline void ReadyList::Run() {
  while (!rung_.empty()) {
    Wakeup& next = rung_.front();
    rung_.pop_front();
    std::exchange(next.waiter_, nullptr).resume();
  }
}

}  // namespace croft::node::listener
