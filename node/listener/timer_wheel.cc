#include "node/listener/timer_wheel.h"

#include <algorithm>

namespace croft::node::listener {

std::uint64_t TimerWheel::TickOf(TimePoint time) const {
  if (time <= start_) {
    return 0;
  }
  // Rounded up: a deadline never fires early.
  return static_cast<std::uint64_t>((time - start_ + kTick - std::chrono::nanoseconds(1)) / kTick);
}

void TimerWheel::Set(Timed& timed, TimePoint deadline) {
  if (std::exchange(resting_, false)) {
    alarm_();
  }
  timed.deadline_ = deadline;
  if (timed.TimedHook::is_linked() && timed.slot_tick_ <= TickOf(deadline)) {
    return;
  }
  timed.TimedHook::unlink();
  Place(timed);
}

void TimerWheel::Place(Timed& timed) {
  const std::uint64_t wanted = std::max(TickOf(timed.deadline_), current_tick_ + 1);
  timed.slot_tick_ = std::min(wanted, current_tick_ + kSlots - 1);
  slots_[timed.slot_tick_ % kSlots].push_back(timed);
}

void TimerWheel::Advance(TimePoint now) {
  const auto now_tick =
      static_cast<std::uint64_t>(std::max(now - start_, TimePoint::duration(0)) / kTick);
  // After a rest: every slot once is enough.
  current_tick_ = std::max(current_tick_, now_tick - std::min<std::uint64_t>(now_tick, kSlots));
  while (current_tick_ < now_tick) {
    ++current_tick_;
    Slot due;
    due.swap(slots_[current_tick_ % kSlots]);
    while (!due.empty()) {
      Timed& timed = due.front();
      due.pop_front();
      if (timed.deadline_ == TimePoint::max()) {
        continue;
      }
      if (timed.deadline_ > now) {
        Place(timed);
        continue;
      }
      timed.deadline_ = TimePoint::max();
      timed.OnDeadline();
    }
  }
}

bool TimerWheel::Rest() {
  resting_ =
      std::all_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.empty(); });
  return resting_;
}

}  // namespace croft::node::listener
