#include "node/worker/store/confined_open.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace croft::node::worker::store {
namespace {

constexpr int kRaceRetries = 8;

UniqueFd OpenAt2(int dir, const char* path, int flags, std::uint64_t resolve) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = resolve;
  return UniqueFd(static_cast<int>(::syscall(SYS_openat2, dir, path, &how, sizeof how)));
}

// EAGAIN without RESOLVE_CACHED means that a rename raced with the lookup.
UniqueFd OpenAt2Patiently(int dir, const char* path, int flags, std::uint64_t resolve) {
  UniqueFd fd = OpenAt2(dir, path, flags, resolve);
  for (int i = 0; i < kRaceRetries && !fd && (errno == EINTR || errno == EAGAIN) &&
                  (resolve & RESOLVE_CACHED) == 0;
       ++i) {
    fd = OpenAt2(dir, path, flags, resolve);
  }
  return fd;
}

const char* OrDot(const std::string& path) { return path.empty() ? "." : path.c_str(); }

std::string Join(const ContentPath& path) {
  if (path.root.empty() || path.below.empty()) {
    return path.root + path.below;
  }
  std::string joined;
  joined.reserve(path.root.size() + path.below.size() + 1);
  joined += path.root;
  joined += '/';
  joined += path.below;
  return joined;
}

// First without symlinks and dot segments, in one step: then nothing can leave the root. Only when
// there is a symlink on the way, in two: the root itself without, the rest beneath it.
UniqueFd OpenBelowRoot(int store_fd, const ContentPath& path, int flags, std::uint64_t resolve) {
  const std::uint64_t beneath = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve;
  const std::uint64_t plain = beneath | RESOLVE_NO_SYMLINKS;
  if (path.below.find("..") == std::string::npos) {
    UniqueFd fd = OpenAt2Patiently(store_fd, OrDot(Join(path)), flags, plain);
    if (fd || errno != ELOOP) {
      return fd;
    }
  }
  const UniqueFd root = OpenAt2Patiently(store_fd, OrDot(path.root), O_PATH | O_DIRECTORY, plain);
  if (!root) {
    return {};
  }
  return OpenAt2Patiently(root.get(), OrDot(path.below), flags, beneath);
}

Opened Answer(UniqueFd fd, bool crossed_mount) {
  const int error = fd ? 0 : errno;
  return {.fd = std::move(fd), .error = error, .crossed_mount = crossed_mount};
}

}  // namespace

Opened OpenStoreDirectory(const std::string& path) {
  return Answer(OpenAt2Patiently(AT_FDCWD, path.c_str(), O_PATH | O_DIRECTORY,
                                 RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS),
                false);
}

Opened OpenConfined(int store_fd, const ContentPath& path, int flags, Blocking blocking) {
  if (blocking == Blocking::kNever) {
    Opened opened =
        Answer(OpenBelowRoot(store_fd, path, flags, RESOLVE_CACHED | RESOLVE_NO_XDEV), false);
    if (opened.error == EXDEV || opened.error == EINTR) {
      opened.error = EAGAIN;  // a mount below the store, or an escape: decided where it may block
    }
    return opened;
  }
  UniqueFd fd = OpenBelowRoot(store_fd, path, flags, RESOLVE_NO_XDEV);
  if (fd || errno != EXDEV) {
    return Answer(std::move(fd), false);
  }
  return Answer(OpenBelowRoot(store_fd, path, flags, 0), true);
}

}  // namespace croft::node::worker::store
