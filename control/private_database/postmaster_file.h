// What a running server wrote about itself: postmaster.pid in its data directory (PostgreSQL's
// miscinit.c), checked against /proc, since the file outlives a crash and its process number may
// have a new owner.
#pragma once

#include <absl/status/statusor.h>
#include <sys/types.h>

#include <optional>
#include <string>

namespace croft::control::private_database {

struct PostmasterFile {
  pid_t pid = 0;
  std::string data_dir;
  std::string socket_dir;
  std::string status;  // "starting", "ready", "stopping", "standby"
};

// Empty when there is no such file, or one too short to be read (being written).
std::optional<PostmasterFile> ReadPostmasterFile(const std::string& cluster_dir);

// Whether that process is alive and runs a program called "postgres" whose working directory is the
// cluster. No clock is asked: only a process of this cluster can pass, and a later server would
// have written another number.
bool IsRunning(const PostmasterFile& file, const std::string& cluster_dir);

// Some process of a server of that directory, even without its postmaster; 0: none.
pid_t FindServerProcess(const std::string& cluster_dir);

// Removes a file, and the lock file of the socket, whose process number now belongs to someone
// else, which PostgreSQL would take for a running server. Only when no process of the server is
// left; a file whose process is gone is left to PostgreSQL, which checks the shared memory too.
absl::Status ClearStaleFile(const std::string& cluster_dir);

}  // namespace croft::control::private_database
