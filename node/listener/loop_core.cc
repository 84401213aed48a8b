#include "node/listener/loop_core.h"

#include <boost/asio/post.hpp>
#include <utility>

namespace croft::node::listener {
namespace {

constexpr std::size_t kReadBufferBytes = 256 * 1024;

}  // namespace

LoopCore::LoopCore() : wheel_(Now()), read_buffer_(kReadBufferBytes) {}

void LoopCore::Settle() {
  ready_.Run();
  while (std::exchange(flush_now_, false)) {
    FlushDirty();
    ready_.Run();
  }
  if (!dirty_.empty() && !flush_posted_) {
    flush_posted_ = true;
    asio::post(io_, [this] {
      flush_posted_ = false;
      FlushDirty();
      Settle();
    });
  }
}

void LoopCore::FlushDirty() {
  while (!dirty_.empty()) {
    Flushed& next = dirty_.front();
    dirty_.pop_front();
    next.Flush();
  }
}

void LoopCore::RefreshClock() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  if (now.tv_sec == second_) {
    return;
  }
  second_ = now.tv_sec;
  std::tm parts{};
  gmtime_r(&second_, &parts);
  std::strftime(http_date_, sizeof http_date_, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  std::strftime(log_time_, sizeof log_time_, "%Y-%m-%d %H:%M:%S", &parts);
}

std::string_view LoopCore::HttpDate() {
  RefreshClock();
  return http_date_;
}

std::string_view LoopCore::LogTime() {
  RefreshClock();
  return log_time_;
}

}  // namespace croft::node::listener
