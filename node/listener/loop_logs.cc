#include "node/listener/loop_logs.h"

#include <chrono>

namespace croft::node::listener {
namespace {

constexpr std::size_t kBufferBytes = 32 * 1024;
constexpr std::chrono::milliseconds kFlushAfter{300};

}  // namespace

void LoopLogs::Request(LoggedRequest& request, const RequestLogEntry& entry) {
  request.time = core_.LogTime();
  AppendRequestLine(request, entry, requests_);
  Added(LogFile::kRequest, requests_, request_lines_);
}

void LoopLogs::Error(LoggedRequest& request, const ErrorLogEntry& entry) {
  const TimePoint now = LoopCore::Now();
  if (now - second_began_ >= std::chrono::seconds(1)) {
    second_began_ = now;
    errors_this_second_ = 0;
  }
  if (++errors_this_second_ > kErrorLinesPerSecondMax) {
    node_.Add(counters::NodeCounter::kLogLinesDroppedTotal);
    return;
  }
  request.time = core_.LogTime();
  AppendErrorLine(request, entry, errors_);
  Added(LogFile::kError, errors_, error_lines_);
}

void LoopLogs::Added(LogFile file, std::string& lines, std::int64_t& count) {
  ++count;
  if (lines.size() >= kBufferBytes) {
    writer_.Push(file, lines, count);
    count = 0;
    lines.reserve(kBufferBytes + kBufferBytes / 4);
  } else if (!flush_due_) {
    flush_due_ = true;
    core_.wheel().Set(*this, LoopCore::Now() + kFlushAfter);
  }
}

void LoopLogs::Flush() {
  flush_due_ = false;
  writer_.Push(LogFile::kRequest, requests_, request_lines_);
  writer_.Push(LogFile::kError, errors_, error_lines_);
  request_lines_ = error_lines_ = 0;
}

}  // namespace croft::node::listener
