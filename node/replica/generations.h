// Two generations of a replica under one directory: the current one and the older one that serves
// when the current is damaged.
//   DIR/current -> generation.N (symlink)   DIR/generation.N   DIR/generation.M (older)
//   DIR/damaged.K (the last one set aside)
// The agent's, one thread.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>

namespace croft::node::replica {

class Generations {
 public:
  // Creates the first generation if there is none. Verifies the current one (opens, walks every
  // record's checksum) when it was not closed cleanly, and falls back to the older one if it is
  // damaged.
  static absl::StatusOr<Generations> Open(const std::string& directory);

  // Directory of the generation in service.
  const std::string& current() const { return current_; }
  // Whether Open had to set a damaged generation aside.
  bool fell_back() const { return fell_back_; }

  // Sets the current generation aside as damaged and takes the older one (or an empty one) into
  // service. REQUIRES: its writer and readers in this process are gone.
  absl::Status SetAsideCurrent();
  // Copies the current generation, at a cut, over the older one (mdb_env_copy: consistent, readers
  // go on). failed_precondition while a snapshot or a large delta is unfinished. Takes as long as
  // copying the file.
  absl::Status RefreshOlder();

 private:
  explicit Generations(std::string directory) : directory_(std::move(directory)) {}

  absl::Status Prepare();
  absl::Status PointCurrentAt(const std::string& name);
  // Sound generations other than the current one, newest first.
  std::string FindOlder() const;

  std::string directory_;
  std::string current_;
  bool fell_back_ = false;
};

// Walks all tables of the generation; data_loss with the reason if anything is damaged, not_found
// if it was never completed.
absl::Status VerifyGeneration(const std::string& directory);

// What Writer leaves on a clean close, and Generations::Open compares: the file as it was then
// needs no walk.
void MarkClosed(const std::string& directory);
bool IsMarkedClosed(const std::string& directory);

}  // namespace croft::node::replica
