#include "node/listener/log_writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "node/listener/log_line.h"
#include "proto/base/log.h"

namespace croft::node::listener {
namespace {

std::string UtcNow() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 24> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return {text.data(), size};
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::write(fd, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

}  // namespace

LogWriter::LogWriter(const std::string& directory, counters::Row node) : node_(node) {
  files_[0].path = directory + "/request.log";
  files_[0].fields = kRequestLogFields;
  files_[1].path = directory + "/error.log";
  files_[1].fields = kErrorLogFields;
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "log-writer");
    Run();
  });
}

LogWriter::~LogWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  thread_.join();
}

void LogWriter::Push(LogFile file, std::string& buffer, std::int64_t lines) {
  if (buffer.empty()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (queued_bytes_ + buffer.size() > kQueuedBytesMax) {
      node_.Add(counters::NodeCounter::kLogLinesDroppedTotal, lines);
      buffer.clear();
      return;
    }
    queued_bytes_ += buffer.size();
    queue_.push_back({file, std::move(buffer), lines});
  }
  buffer = std::string();
  work_.notify_one();
}

void LogWriter::Reopen() {
  {
    const std::lock_guard lock(mutex_);
    reopen_ = true;
  }
  work_.notify_one();
}

void LogWriter::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait_for(lock, std::chrono::seconds(1),
                   [this] { return stopping_ || reopen_ || !queue_.empty(); });
    if (std::exchange(reopen_, false)) {
      for (File& file : files_) {
        file.fd.reset();
      }
    }
    if (queue_.empty() && stopping_) {
      return;
    }
    std::deque<Buffer> taken = std::exchange(queue_, {});
    queued_bytes_ = 0;
    lock.unlock();
    CloseRenamed();
    for (Buffer& buffer : taken) {
      Write(buffer);
    }
    lock.lock();
  }
}

// A rotated file is left to who renamed it.
void LogWriter::CloseRenamed() {
  for (File& file : files_) {
    struct stat held {};
    struct stat named {};
    if (file.fd && (::fstat(file.fd.get(), &held) != 0 || ::stat(file.path.c_str(), &named) != 0 ||
                    held.st_ino != named.st_ino || held.st_dev != named.st_dev)) {
      file.fd.reset();
    }
  }
}

bool LogWriter::Open(File& file) {
  // The file is made at the first line, not at the start.
  file.fd.reset(::open(file.path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640));
  return file.fd && WriteAll(file.fd.get(), LogFileHeader(file.fields, UtcNow()));
}

void LogWriter::Write(Buffer& buffer) {
  File& file = files_[static_cast<std::size_t>(buffer.file)];
  if ((!file.fd && !Open(file)) || !WriteAll(file.fd.get(), buffer.bytes)) {
    Failed(file, std::strerror(errno));
    node_.Add(counters::NodeCounter::kLogLinesDroppedTotal, buffer.lines);
    return;
  }
  file.failing = false;
  node_.Add(counters::NodeCounter::kLogLinesTotal, buffer.lines);
}

void LogWriter::Failed(File& file, const char* what) {
  file.fd.reset();
  if (!std::exchange(file.failing, true)) {
    log::Error("listener", "a log cannot be written; its lines are dropped and counted",
               {{"path", file.path}, {"err", what}});
  }
}

}  // namespace croft::node::listener
