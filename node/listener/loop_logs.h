// One loop's log lines until the writer takes them: by size, or a moment after the first. The error
// log is bounded by rate, since visitors write it at will. One loop only.
#pragma once

#include <cstdint>
#include <string>

#include "node/listener/log_line.h"
#include "node/listener/log_writer.h"
#include "node/listener/loop_core.h"

namespace croft::node::listener {

class LoopLogs final : public Timed {
 public:
  static constexpr int kErrorLinesPerSecondMax = 2000;

  LoopLogs(LoopCore& core, LogWriter& writer, counters::Row node_row)
      : core_(core), writer_(writer), node_(node_row) {}
  ~LoopLogs() override { Flush(); }

  // `request.time` is filled in here.
  void Request(LoggedRequest& request, const RequestLogEntry& entry);
  void Error(LoggedRequest& request, const ErrorLogEntry& entry);
  void Flush();
  void OnDeadline() override { Flush(); }

 private:
  void Added(LogFile file, std::string& lines, std::int64_t& count);

  LoopCore& core_;
  LogWriter& writer_;
  const counters::Row node_;
  std::string requests_;
  std::string errors_;
  std::int64_t request_lines_ = 0;
  std::int64_t error_lines_ = 0;
  TimePoint second_began_;
  int errors_this_second_ = 0;
  bool flush_due_ = false;
};

}  // namespace croft::node::listener
