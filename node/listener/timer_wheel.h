// Deadlines of a loop, coarse and cheap: setting one is a store, since an entry that is already in
// the wheel moves only when its slot comes up. One loop only.
#pragma once

#include <array>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

namespace croft::node::listener {

using TimePoint = std::chrono::steady_clock::time_point;

class TimerWheel;

using TimedHook =
    boost::intrusive::list_base_hook<boost::intrusive::tag<TimerWheel>,
                                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

// Something with at most one deadline. Leaves the wheel when destroyed.
class Timed : public TimedHook {
 public:
  virtual ~Timed() = default;
  // The deadline passed; none is set now.
  virtual void OnDeadline() = 0;

 private:
  friend class TimerWheel;
  TimePoint deadline_ = TimePoint::max();
  std::uint64_t slot_tick_ = 0;
};

class TimerWheel {
 public:
  static constexpr std::chrono::milliseconds kTick{100};

  explicit TimerWheel(TimePoint start) : start_(start) {}

  void Set(Timed& timed, TimePoint deadline);
  void Clear(Timed& timed) { timed.deadline_ = TimePoint::max(); }

  // Calls OnDeadline for what is due. Call about every kTick, but for rests.
  void Advance(TimePoint now);

  // Called by the Set that ends a rest, before it places anything; it is to advance the wheel.
  void OnRestEnds(std::function<void()> alarm) { alarm_ = std::move(alarm); }
  // True when nothing is in the wheel: it rests until the next Set. REQUIRES: OnRestEnds was
  // called.
  bool Rest();

 private:
  static constexpr std::size_t kSlots = 1024;
  using Slot = boost::intrusive::list<Timed, boost::intrusive::base_hook<TimedHook>,
                                      boost::intrusive::constant_time_size<false>>;

  std::uint64_t TickOf(TimePoint time) const;
  void Place(Timed& timed);

  const TimePoint start_;
  std::function<void()> alarm_;
  bool resting_ = false;
  std::uint64_t current_tick_ = 0;
  std::array<Slot, kSlots> slots_;
};

}  // namespace croft::node::listener
