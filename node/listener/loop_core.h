// What everything on one loop works with: its io_context, what was rung, deadlines, buffers, and
// worker connections that have bytes to send. Every completion handler ends with Settle(). One loop
// only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <string_view>
#include <vector>

#include "node/listener/buffer_pool.h"
#include "node/listener/splice_pipe.h"
#include "node/listener/timer_wheel.h"
#include "node/listener/wakeup.h"

namespace croft::node::listener {

namespace asio = boost::asio;

struct FlushedTag;
using FlushedHook =
    boost::intrusive::list_base_hook<boost::intrusive::tag<FlushedTag>,
                                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

// Something whose output is written once per turn of the loop, however many requests added to it.
class Flushed : public FlushedHook {
 public:
  virtual ~Flushed() = default;
  virtual void Flush() = 0;
};

class LoopCore {
 public:
  LoopCore();

  asio::io_context& io() { return io_; }
  ReadyList& ready() { return ready_; }
  TimerWheel& wheel() { return wheel_; }
  BufferPool& buffers() { return buffers_; }
  // For bytes that are digested before the handler ends.
  std::vector<char>& read_buffer() { return read_buffer_; }

  SplicePipe& splice_pipe() { return splice_pipe_; }

  // `now`: at the end of this event.
  void MarkDirty(Flushed& flushed, bool now) {
    flush_now_ = flush_now_ || now;
    if (!flushed.FlushedHook::is_linked()) {
      dirty_.push_back(flushed);
    }
  }
  // Runs what was rung; output is flushed after the events that are already waiting, so that it
  // gathers.
  void Settle();

  static TimePoint Now() { return std::chrono::steady_clock::now(); }
  // "Mon, 30 Nov 2026 20:07:09 GMT" for Date; "2026-11-30 20:07:09" for logs. Formatted once a
  // second.
  std::string_view HttpDate();
  std::string_view LogTime();

 private:
  void FlushDirty();
  void RefreshClock();

  asio::io_context io_{1};
  ReadyList ready_;
  TimerWheel wheel_;
  BufferPool buffers_;
  std::vector<char> read_buffer_;
  SplicePipe splice_pipe_;
  boost::intrusive::list<Flushed, boost::intrusive::base_hook<FlushedHook>,
                         boost::intrusive::constant_time_size<false>>
      dirty_;
  bool flush_posted_ = false;
  bool flush_now_ = false;

  std::time_t second_ = 0;
  char http_date_[32] = {};
  char log_time_[24] = {};
};

}  // namespace croft::node::listener
