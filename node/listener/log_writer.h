// Writes the node's log files on one thread of its own: buffers of whole lines from the loops,
// bounded; what does not fit is counted, never waited for. A file that was renamed away is opened
// anew within a second, or at once by Reopen (SIGHUP).
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "node/counters/counter_memory.h"
#include "proto/base/unique_fd.h"

namespace croft::node::listener {

enum class LogFile : std::uint8_t { kRequest, kError };

class LogWriter {
 public:
  // Files request.log and error.log in `directory`. `node` counts the lines.
  LogWriter(const std::string& directory, counters::Row node);
  // Writes what is queued.
  ~LogWriter();

  // Takes a buffer of `lines` whole lines and leaves an empty one. Thread-safe, never blocks on the
  // disk.
  void Push(LogFile file, std::string& buffer, std::int64_t lines);
  // Thread-safe.
  void Reopen();

 private:
  struct Buffer {
    LogFile file;
    std::string bytes;
    std::int64_t lines;
  };
  struct File {
    std::string path;
    std::string_view fields;
    UniqueFd fd;
    bool failing = false;  // told once, not per line
  };

  static constexpr std::size_t kQueuedBytesMax = 16 * 1024 * 1024;

  void Run();
  void Write(Buffer& buffer);
  bool Open(File& file);
  void CloseRenamed();
  void Failed(File& file, const char* what);

  const counters::Row node_;
  std::array<File, 2> files_;  // the writer thread's

  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<Buffer> queue_;
  std::size_t queued_bytes_ = 0;
  bool stopping_ = false;
  bool reopen_ = false;

  std::thread thread_;
};

}  // namespace croft::node::listener
