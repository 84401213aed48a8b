#include "control/data_directory.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "proto/base/error.h"

namespace croft::control {
namespace {

// How long a control that was just killed may take to be gone.
constexpr std::chrono::seconds kLockPatience{2};
constexpr std::chrono::milliseconds kLockPoll{20};
constexpr char kLockFile[] = "/control.lock";

// A lock can't be waited for with a deadline, so it is tried again and again for a short while.
bool LockWithin(int fd, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_until(std::chrono::steady_clock::now() + kLockPoll);
  }
  return true;
}

bool IsRoot() { return ::geteuid() == 0; }

// New, or a control's of earlier; any other directory keeps its access as it is.
bool IsOurs(const std::string& directory) {
  std::error_code error;
  return std::filesystem::is_empty(directory, error) ||
         std::filesystem::exists(directory + kLockFile, error);
}

absl::Status SetAccess(const Settings& settings) {
  const bool shared = IsRoot() && settings.run_as != 0;
  const mode_t mode = shared ? 01771 : 0711;  // the database's user passes through
  if ((shared && ::chown(settings.data_dir.c_str(), 0, settings.run_as) != 0) ||
      ::chmod(settings.data_dir.c_str(), mode) != 0) {
    return ErrnoError("data directory {}", settings.data_dir);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<UniqueFd> OpenDataDirectory(const Settings& settings) {
  std::error_code error;
  std::filesystem::create_directories(settings.data_dir, error);
  if (error) {
    return Error(absl::StatusCode::kFailedPrecondition, "data directory {}: {}", settings.data_dir,
                 error.message());
  }
  if (IsOurs(settings.data_dir)) {
    if (absl::Status status = SetAccess(settings); !status.ok()) {
      return status;
    }
  }
  const std::string path = settings.data_dir + kLockFile;
  UniqueFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) {
    return ErrnoError("open {}", path);
  }
  if (!LockWithin(lock.get(), kLockPatience)) {
    return Error(
        absl::StatusCode::kFailedPrecondition,
        "another croft-control runs on data directory {}; stop it, or choose another --data-dir",
        settings.data_dir);
  }
  return lock;
}

absl::Status DropPrivileges(const Settings& settings) {
  if (!IsRoot() || settings.run_as == 0) {
    return absl::OkStatus();
  }
  const uid_t id = settings.run_as;
  if (::setgroups(0, nullptr) != 0 || ::setresgid(id, id, id) != 0 ||
      ::setresuid(id, id, id) != 0) {
    return ErrnoError("become uid {}", id);
  }
  return absl::OkStatus();
}

}  // namespace croft::control
