#include "control/backup/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <vector>

#include "proto/base/error.h"

namespace croft::control::backup {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = 256 * 1024;
constexpr std::int64_t kSmallFileMax = 1 << 20;
constexpr std::chrono::milliseconds kProgressInterval{200};

absl::Status SyncDirectory(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) {
    return ErrnoError("sync directory {}", path);
  }
  return absl::OkStatus();
}

std::string ParentOf(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

absl::Status CheckFree(const std::string& target) {
  std::error_code error;
  const fs::file_status there = fs::status(target, error);
  if (!fs::exists(there)) {
    return absl::OkStatus();
  }
  if (!fs::is_directory(there)) {
    return Error(absl::StatusCode::kFailedPrecondition, "{} is no directory; choose another",
                 target);
  }
  if (!fs::is_empty(target, error) || error) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "{} isn't empty; choose a new directory, nothing in this one is touched", target);
  }
  return absl::OkStatus();
}

// Whoever has the directory open holds its lock.
absl::StatusOr<UniqueFd> LockDirectory(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) {
    return ErrnoError("open {}", path);
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "another croft-control is writing {}; wait for it, or choose another directory",
                 path);
  }
  return fd;
}

absl::Status RemoveLeftover(const std::string& path,
                            const std::function<absl::Status(const std::string&)>& release) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) {
    return absl::OkStatus();
  }
  const auto lock = LockDirectory(path);
  if (!lock.ok()) {
    return lock.status();
  }
  if (release) {
    if (absl::Status status = release(path); !status.ok()) {
      return status;
    }
  }
  fs::remove_all(path, error);
  return error ? Error(absl::StatusCode::kFailedPrecondition,
                       "{}, left by one that was killed: {}; remove it by hand", path,
                       error.message())
               : absl::OkStatus();
}

}  // namespace

absl::StatusOr<NewFile> NewFile::Create(const std::string& directory, const std::string& name) {
  std::string path = directory + "/" + name;
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) {
    return ErrnoError("create {}", path);
  }
  return NewFile(std::move(fd), std::move(path), name);
}

absl::Status NewFile::Write(std::string_view bytes) {
  sum_.Add(bytes);
  facts_.size += std::ssize(bytes);
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd_.get(), bytes.data(), bytes.size());
    if (wrote < 0 && errno != EINTR) {
      return ErrnoError("write {}", path_);
    }
    bytes.remove_prefix(wrote < 0 ? 0 : static_cast<std::size_t>(wrote));
  }
  return absl::OkStatus();
}

absl::StatusOr<FileFacts> NewFile::Close() {
  if (::fsync(fd_.get()) != 0) {
    return ErrnoError("write {}", path_);
  }
  fd_.reset();
  facts_.sha256 = sum_.Finish();
  return facts_;
}

absl::StatusOr<FileFacts> WriteNewFile(const std::string& directory, const std::string& name,
                                       std::string_view content) {
  auto file = NewFile::Create(directory, name);
  if (!file.ok()) {
    return file.status();
  }
  if (absl::Status status = file->Write(content); !status.ok()) {
    return status;
  }
  return file->Close();
}

absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (!fd || ::fstat(fd.get(), &about) != 0) {
    return ErrnoError("{}", path);
  }
  if (!S_ISREG(about.st_mode) || about.st_size > kSmallFileMax) {
    return Error(absl::StatusCode::kFailedPrecondition, "{} is no small file", path);
  }
  std::string content(static_cast<std::size_t>(about.st_size), '\0');
  const ssize_t got = ::pread(fd.get(), content.data(), content.size(), 0);
  if (got < 0) {
    return ErrnoError("read {}", path);
  }
  content.resize(static_cast<std::size_t>(got));
  return content;
}

absl::StatusOr<FileFacts> ReadFacts(const std::string& directory, const std::string& name) {
  const std::string path = directory + "/" + name;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) {
    return ErrnoError("{}", path);
  }
  FileFacts facts{.name = name, .size = 0};
  identity::Sha256 sum;
  ProgressLine progress("checking " + name);
  std::vector<char> piece(kPiece);
  for (ssize_t got = 1; got > 0;) {
    if (StopRequested()) {
      return Error(absl::StatusCode::kCancelled, "stopped by a signal");
    }
    got = ::read(fd.get(), piece.data(), piece.size());
    if (got < 0) {
      return ErrnoError("read {}", path);
    }
    sum.Add({piece.data(), static_cast<std::size_t>(got)});
    facts.size += got;
    progress.Add(static_cast<std::size_t>(got));
  }
  facts.sha256 = sum.Finish();
  return facts;
}

absl::StatusOr<UnfinishedDirectory> UnfinishedDirectory::Make(
    const std::string& target,
    const std::function<absl::Status(const std::string& leftover)>& release) {
  if (absl::Status status = CheckFree(target); !status.ok()) {
    return status;
  }
  UnfinishedDirectory made(target, target + ".unfinished");
  if (absl::Status status = RemoveLeftover(made.path_, release); !status.ok()) {
    return status;
  }
  if (::mkdir(made.path_.c_str(), 0700) != 0) {
    return ErrnoError("mkdir {}", made.path_);
  }
  auto lock = LockDirectory(made.path_);
  if (!lock.ok()) {
    return lock.status();
  }
  made.lock_ = *std::move(lock);
  return made;
}

UnfinishedDirectory::~UnfinishedDirectory() {
  if (lock_) {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
}

absl::Status UnfinishedDirectory::Finish() {
  absl::Status status = SyncDirectory(path_);
  if (!status.ok()) {
    return status;
  }
  // An empty directory is replaced, anything else refused.
  if (::rename(path_.c_str(), target_.c_str()) != 0) {
    return errno == EBUSY ? Error(absl::StatusCode::kFailedPrecondition,
                                  "{} is a mount point; choose a directory below it", target_)
                          : ErrnoError("rename {} to {}", path_, target_);
  }
  lock_.reset();
  return SyncDirectory(ParentOf(target_));
}

ProgressLine::ProgressLine(std::string what)
    : what_(std::move(what)), shown_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (shown_ && last_ != std::chrono::steady_clock::time_point()) {
    std::fputs("\r\033[K", stderr);
  }
}

void ProgressLine::Add(std::size_t bytes) {
  bytes_ += static_cast<std::int64_t>(bytes);
  const auto now = std::chrono::steady_clock::now();
  if (shown_ && now - last_ >= kProgressInterval) {
    last_ = now;
    fmt::print(stderr, "\r{}: {:.1f} MiB\033[K", what_, static_cast<double>(bytes_) / (1 << 20));
    std::fflush(stderr);
  }
}

bool StopRequested() {
  static bool stopped = false;
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGTERM);
  sigaddset(&stops, SIGINT);
  const timespec at_once{};
  stopped = stopped || ::sigtimedwait(&stops, nullptr, &at_once) > 0;
  return stopped;
}

}  // namespace croft::control::backup
