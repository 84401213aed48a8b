#include "control/identity/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "proto/base/error.h"
#include "proto/base/random.h"
#include "proto/base/unique_fd.h"

namespace croft::control::identity {
namespace {

absl::Status WriteAll(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t wrote = ::write(fd, content.data(), content.size());
    if (wrote < 0) {
      return ErrnoError("write");
    }
    content.remove_prefix(static_cast<std::size_t>(wrote));
  }
  if (::fsync(fd) != 0) {
    return ErrnoError("fsync");
  }
  return absl::OkStatus();
}

absl::Status SyncDirectoryOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) {
    return ErrnoError("sync directory {}", directory);
  }
  return absl::OkStatus();
}

// Writes beside `path`, then lets `place` give the new file its name.
template <typename Place>
absl::Status WriteBeside(const std::string& path, std::string_view content, mode_t mode,
                         Place place) {
  const std::string beside = path + "." + RandomHex(6);
  const UniqueFd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!fd) {
    return ErrnoError("create {}", beside);
  }
  absl::Status status = WriteAll(fd.get(), content);
  if (status.ok() && ::fchmod(fd.get(), mode) != 0) {
    status = ErrnoError("chmod {}", beside);
  }
  if (status.ok() && place(beside.c_str(), path.c_str()) != 0) {
    status = ErrnoError("write {}", path);
  }
  ::unlink(beside.c_str());
  return status.ok() ? SyncDirectoryOf(path) : status;
}

}  // namespace

absl::Status WriteFile(const std::string& path, std::string_view content, mode_t mode) {
  return WriteBeside(path, content, mode,
                     [](const char* from, const char* to) { return ::rename(from, to); });
}

absl::Status CreateFileOnce(const std::string& path, std::string_view content, mode_t mode) {
  return WriteBeside(path, content, mode,
                     [](const char* from, const char* to) { return ::link(from, to); });
}

}  // namespace croft::control::identity
