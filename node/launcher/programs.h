// The programs a launcher can start: the three beside its own executable. Opened anew for each
// start, so that an upgraded program is used from its next start on.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "croft/node/v1/launcher.pb.h"
#include "proto/base/unique_fd.h"

namespace croft::node::launcher {

class Programs {
 public:
  // not_found names the missing file.
  static absl::StatusOr<Programs> FindBesideOwn();

  // REQUIRES: AGENT, LISTENER or WORKER.
  absl::StatusOr<UniqueFd> Open(v1::ProcessKind kind) const;
  int directory() const { return directory_.get(); }
  static const char* NameOf(v1::ProcessKind kind);

 private:
  Programs(std::string path, UniqueFd directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}

  // Constant after construction.
  std::string path_;
  UniqueFd directory_;
};

}  // namespace croft::node::launcher
