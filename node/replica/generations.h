// Two generations of a replica under one directory: the current one and the older one that serves when the current is damaged.
//   DIR/current -> generation.N (symlink)   DIR/generation.N   DIR/generation.M (older)
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>

namespace croft::node::replica {

class Generations {
 public:
  // Creates the first generation if there is none. Verifies the current one (opens, walks every record's checksum) when it was not closed
  // cleanly, and falls back to the older one if it is damaged.
  static absl::StatusOr<Generations> Open(const std::string& directory);

  // Directory of the generation in service.
  const std::string& current() const { return current_; }
  // Whether Open had to set a damaged generation aside.
  bool fell_back() const { return fell_back_; }

  // Sets the current generation aside as damaged and takes the older one (or an empty one) into service.
  absl::Status SetAsideCurrent();
  // Copies the current generation, at a cut, over the older one (mdb_env_copy: consistent, readers go on).
  absl::Status RefreshOlder();

 private:
  std::string directory_;
  std::string current_;
  bool fell_back_ = false;
};

}  // namespace croft::node::replica
