// The only place where a worker opens content. A store's own path is resolved without symlinks;
// from there the kernel keeps every path below its root (openat2, RESOLVE_BENEATH). Thread-safe.
#pragma once

#include <string>

#include "node/worker/store/content_path.h"
#include "proto/base/unique_fd.h"

namespace croft::node::worker::store {

struct Opened {
  UniqueFd fd;
  int error = 0;  // errno; 0 when fd is set
  // The file is on another mount than its store, so nothing is known about how that file system
  // answers.
  bool crossed_mount = false;
};

enum class Blocking {
  kAllowed,
  // Only what the kernel has in its caches, on the store's own mount; anything else is EAGAIN.
  kNever,
};

// A store's directory, O_PATH. ELOOP when a part of the path is a symlink.
Opened OpenStoreDirectory(const std::string& path);

// Symlinks are followed only while they stay inside the root: beyond it EXDEV. `flags` as of
// open(2); O_CLOEXEC is added.
Opened OpenConfined(int store_fd, const ContentPath& path, int flags, Blocking blocking);

}  // namespace croft::node::worker::store
