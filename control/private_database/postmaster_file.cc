#include "control/private_database/postmaster_file.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "proto/base/error.h"
#include "proto/base/log.h"

namespace croft::control::private_database {
namespace {

namespace fs = std::filesystem;

std::string ProcPath(pid_t pid, std::string_view entry) {
  return fmt::format("/proc/{}/{}", pid, entry);
}

bool RunsPostgresIn(pid_t pid, const std::string& cluster_dir) {
  std::error_code error;
  const fs::path program = fs::read_symlink(ProcPath(pid, "exe"), error);
  if (error || !program.filename().string().starts_with("postgres")) {
    return false;  // after an upgrade the link ends in " (deleted)"
  }
  return fs::equivalent(ProcPath(pid, "cwd"), cluster_dir, error) && !error;
}

std::string TrimRight(std::string text) {
  while (!text.empty() && text.back() == ' ') {
    text.pop_back();
  }
  return text;
}

}  // namespace

std::optional<PostmasterFile> ReadPostmasterFile(const std::string& cluster_dir) {
  std::ifstream file(cluster_dir + "/postmaster.pid");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(std::move(line));
  }
  if (lines.size() < 5) {
    return std::nullopt;
  }
  PostmasterFile result;
  result.pid = static_cast<pid_t>(std::strtol(lines[0].c_str(), nullptr, 10));
  result.data_dir = lines[1];
  result.socket_dir = lines[4];
  result.status = lines.size() > 7 ? TrimRight(lines[7]) : "starting";
  if (result.pid <= 0) {
    return std::nullopt;
  }
  return result;
}

bool IsRunning(const PostmasterFile& file, const std::string& cluster_dir) {
  return RunsPostgresIn(file.pid, cluster_dir);
}

pid_t FindServerProcess(const std::string& cluster_dir) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    const auto pid = static_cast<pid_t>(std::strtol(entry.path().filename().c_str(), nullptr, 10));
    if (pid > 0 && RunsPostgresIn(pid, cluster_dir)) {
      return pid;
    }
  }
  return 0;
}

absl::Status ClearStaleFile(const std::string& cluster_dir) {
  const auto file = ReadPostmasterFile(cluster_dir);
  if (!file.has_value() || IsRunning(*file, cluster_dir) ||
      (::kill(file->pid, 0) != 0 && errno == ESRCH)) {
    return absl::OkStatus();
  }
  if (const pid_t left = FindServerProcess(cluster_dir); left != 0) {
    return Error(absl::StatusCode::kUnavailable,
                 "process {} of an earlier server still runs in {}; it should end by itself", left,
                 cluster_dir);
  }
  // The socket's lock file names the same process. It goes first: with it alone left, nothing would
  // tell that the server is gone.
  for (const std::string& path : {file->socket_dir + "/.s.PGSQL.5432.lock",
                                  cluster_dir + "/postmaster.pid"}) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
      return ErrnoError("remove the stale {}", path);
    }
  }
  log::Info("private_database", "removed a stale postmaster.pid",
            {{"pid", std::to_string(file->pid)}});
  return absl::OkStatus();
}

}  // namespace croft::control::private_database
