#include "node/replica/generations.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <vector>

#include "node/replica/environment.h"
#include "proto/base/error.h"
#include "proto/base/log.h"
#include "proto/base/unique_fd.h"

namespace croft::node::replica {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGenerationPrefix = "generation.";
constexpr std::string_view kDamagedPrefix = "damaged.";

// N of "PREFIX N"; -1 if the name is none.
int NumberOf(std::string_view name, std::string_view prefix) {
  int number = -1;
  if (name.substr(0, prefix.size()) == prefix) {
    const char* end = name.data() + name.size();
    if (std::from_chars(name.data() + prefix.size(), end, number).ptr != end) {
      return -1;
    }
  }
  return number;
}

// Numbers of the directory's generations, highest first.
std::vector<int> ListNumbers(const std::string& directory, std::string_view prefix) {
  std::vector<int> numbers;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    if (const int number = NumberOf(entry.path().filename().string(), prefix); number >= 0) {
      numbers.push_back(number);
    }
  }
  std::sort(numbers.rbegin(), numbers.rend());
  return numbers;
}

absl::Status MakeDirectory(const std::string& path) {
  if (::mkdir(path.c_str(), 0750) != 0 && errno != EEXIST) {
    return ErrnoError("make {}", path);
  }
  return absl::OkStatus();
}

void SyncPath(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ::fsync(fd.get());
}

absl::Status Rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return ErrnoError("rename {} to {}", from, to);
  }
  return absl::OkStatus();
}

absl::Status CopyCompacted(const std::string& from, const std::string& to) {
  const auto environment = Environment::Open(from, Access::kRead);
  if (!environment.ok()) {
    return environment.status();
  }
  {
    const auto transaction = ReadTransaction::Begin(**environment);
    if (!transaction.ok()) {
      return transaction.status();
    }
    for (const std::string_view unfinished : {kSnapshotKey, kPartialKey}) {
      const auto found =
          (*environment)->Get(transaction->get(), (*environment)->meta(), unfinished);
      if (!found.ok() || found->has_value()) {
        return found.ok() ? Error(absl::StatusCode::kFailedPrecondition,
                                  "replica {} is between two revisions", from)
                          : found.status();
      }
    }
  }
  const int code = mdb_env_copy2((*environment)->get(), to.c_str(), MDB_CP_COMPACT);
  return code == MDB_SUCCESS ? absl::OkStatus() : LmdbError(code, "copy replica", from);
}

}  // namespace

absl::StatusOr<Generations> Generations::Open(const std::string& directory) {
  Generations generations(directory);
  if (const absl::Status status = generations.Prepare(); !status.ok()) {
    return status;
  }
  return generations;
}

absl::Status Generations::Prepare() {
  if (const absl::Status status = MakeDirectory(directory_); !status.ok()) {
    return status;
  }
  std::error_code error;
  const fs::path link = fs::read_symlink(directory_ + "/current", error);
  if (error || !fs::is_directory(directory_ + "/" + link.string())) {
    const std::string found = FindOlder();
    return PointCurrentAt(found.empty() ? std::string(kGenerationPrefix) + "1" : found);
  }
  current_ = directory_ + "/" + link.string();
  if (IsMarkedClosed(current_)) {
    return absl::OkStatus();
  }
  const absl::Status verified = VerifyGeneration(current_);
  // A generation that was never completed is where the first one begins, and damage where there is
  // an older one.
  if (verified.ok() || (absl::IsNotFound(verified) && FindOlder().empty())) {
    return absl::OkStatus();
  }
  if (!absl::IsDataLoss(verified) && !absl::IsNotFound(verified)) {
    return verified;
  }
  log::Error("replica", "damaged generation set aside",
             {{"path", current_}, {"err", std::string(verified.message())}});
  fell_back_ = true;
  return SetAsideCurrent();
}

std::string Generations::FindOlder() const {
  for (const int number : ListNumbers(directory_, kGenerationPrefix)) {
    const std::string name = fmt::format("{}{}", kGenerationPrefix, number);
    const std::string path = directory_ + "/" + name;
    if (path != current_ && VerifyGeneration(path).ok()) {
      return name;
    }
  }
  return {};
}

absl::Status Generations::PointCurrentAt(const std::string& name) {
  const std::string path = directory_ + "/" + name;
  const std::string link = directory_ + "/current";
  const std::string fresh = directory_ + "/current.new";
  if (const absl::Status status = MakeDirectory(path); !status.ok()) {
    return status;
  }
  ::unlink(fresh.c_str());
  if (::symlink(name.c_str(), fresh.c_str()) != 0) {
    return ErrnoError("make {}", fresh);
  }
  if (const absl::Status status = Rename(fresh, link); !status.ok()) {
    return status;
  }
  SyncPath(directory_);
  current_ = path;
  return absl::OkStatus();
}

absl::Status Generations::SetAsideCurrent() {
  std::error_code ignored;
  for (const int number : ListNumbers(directory_, kDamagedPrefix)) {
    fs::remove_all(fmt::format("{}/{}{}", directory_, kDamagedPrefix, number), ignored);
  }
  std::string next = FindOlder();
  const std::vector<int> numbers = ListNumbers(directory_, kGenerationPrefix);
  if (next.empty()) {
    next = fmt::format("{}{}", kGenerationPrefix, numbers.empty() ? 1 : numbers.front() + 1);
  }
  const std::string damaged = current_;
  if (const absl::Status status = PointCurrentAt(next); !status.ok()) {
    return status;
  }
  const int number = NumberOf(fs::path(damaged).filename().string(), kGenerationPrefix);
  return Rename(damaged, fmt::format("{}/{}{}", directory_, kDamagedPrefix, number));
}

absl::Status Generations::RefreshOlder() {
  const std::vector<int> numbers = ListNumbers(directory_, kGenerationPrefix);
  const std::string copy = directory_ + "/copy.new";
  std::error_code ignored;
  fs::remove_all(copy, ignored);
  if (const absl::Status status = MakeDirectory(copy); !status.ok()) {
    return status;
  }
  if (const absl::Status status = CopyCompacted(current_, copy); !status.ok()) {
    fs::remove_all(copy, ignored);
    return status;
  }
  ::chmod((copy + "/data.mdb").c_str(), 0640);
  SyncPath(copy + "/data.mdb");
  SyncPath(copy);
  const std::string fresh =
      fmt::format("{}/{}{}", directory_, kGenerationPrefix, numbers.front() + 1);
  if (const absl::Status status = Rename(copy, fresh); !status.ok()) {
    return status;
  }
  SyncPath(directory_);
  for (const int number : numbers) {
    const std::string path = fmt::format("{}/{}{}", directory_, kGenerationPrefix, number);
    if (path != current_) {
      fs::remove_all(path, ignored);
    }
  }
  return absl::OkStatus();
}

}  // namespace croft::node::replica
