// The files of a backup and of a restored data directory: private, checked by SHA-256, and never
// half there under their final name.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "control/identity/sha256.h"
#include "proto/base/unique_fd.h"

namespace croft::control::backup {

struct FileFacts {
  std::string name;
  std::int64_t size = 0;
  std::string sha256 = {};

  bool operator==(const FileFacts&) const = default;
};

// A new file (0600), written in pieces.
class NewFile {
 public:
  static absl::StatusOr<NewFile> Create(const std::string& directory, const std::string& name);

  absl::Status Write(std::string_view bytes);
  // Durable from here on.
  absl::StatusOr<FileFacts> Close();

 private:
  NewFile(UniqueFd fd, std::string path, std::string name)
      : fd_(std::move(fd)), path_(std::move(path)), facts_{.name = std::move(name), .size = 0} {}

  UniqueFd fd_;
  std::string path_;
  FileFacts facts_;
  identity::Sha256 sum_;
};

absl::StatusOr<FileFacts> WriteNewFile(const std::string& directory, const std::string& name,
                                       std::string_view content);

// A small file; not_found when there is none.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path);

// Size and sum of what is there.
absl::StatusOr<FileFacts> ReadFacts(const std::string& directory, const std::string& name);

// A directory that is made under another name beside its own, TARGET.unfinished, and gets its name
// when all of it is there. Ended before that it is removed; what a killed process left is removed
// by the next one.
class UnfinishedDirectory {
 public:
  // failed_precondition when the target is there and not empty, or another process makes it.
  // `release` is told of what a killed process left before it is removed.
  static absl::StatusOr<UnfinishedDirectory> Make(
      const std::string& target,
      const std::function<absl::Status(const std::string& leftover)>& release = {});
  UnfinishedDirectory(UnfinishedDirectory&& other) noexcept = default;
  UnfinishedDirectory& operator=(UnfinishedDirectory&&) = delete;
  ~UnfinishedDirectory();

  const std::string& path() const { return path_; }
  absl::Status Finish();

 private:
  UnfinishedDirectory(std::string target, std::string path)
      : target_(std::move(target)), path_(std::move(path)) {}

  std::string target_;
  std::string path_;
  UniqueFd lock_;  // empty: nothing to remove
};

// A line on standard error that tells how far it is; nothing where that is no terminal.
class ProgressLine {
 public:
  explicit ProgressLine(std::string what);
  ~ProgressLine();
  void Add(std::size_t bytes);

 private:
  const std::string what_;
  const bool shown_;
  std::int64_t bytes_ = 0;
  std::chrono::steady_clock::time_point last_;
};

// Whether TERM or INT, which must be blocked, has come. Once is for ever.
bool StopRequested();

}  // namespace croft::control::backup
