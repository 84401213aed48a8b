#include "node/launcher/programs.h"

#include <fcntl.h>

#include <filesystem>

#include "proto/base/check.h"
#include "proto/base/error.h"

namespace croft::node::launcher {

absl::StatusOr<Programs> Programs::FindBesideOwn() {
  std::error_code failed;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) {
    return Error(absl::StatusCode::kFailedPrecondition, "read /proc/self/exe: {}",
                 failed.message());
  }
  const std::string path = own.parent_path().string();
  UniqueFd directory(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) {
    return ErrnoError("open {}", path);
  }
  Programs programs(path, std::move(directory));
  for (const v1::ProcessKind kind : {v1::AGENT, v1::LISTENER, v1::WORKER}) {
    if (const auto opened = programs.Open(kind); !opened.ok()) {
      return opened.status();
    }
  }
  return programs;
}

absl::StatusOr<UniqueFd> Programs::Open(v1::ProcessKind kind) const {
  UniqueFd fd(::openat(directory_.get(), NameOf(kind), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    return ErrnoError("open {}/{} (croft-launcher starts the programs of its own directory)", path_,
                      NameOf(kind));
  }
  return fd;
}

const char* Programs::NameOf(v1::ProcessKind kind) {
  switch (kind) {
    case v1::AGENT:
      return "croft-agent";
    case v1::LISTENER:
      return "croft-listener";
    case v1::WORKER:
      return "croft-worker";
    default:
      break;
  }
  Check(false, "a kind of process that has a program");
  return "";
}

}  // namespace croft::node::launcher
