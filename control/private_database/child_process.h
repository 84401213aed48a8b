// Starts a program directly (no shell), as another identity when root, with a clean environment and
// no inherited descriptor but 0, 1, 2.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "proto/base/unique_fd.h"

namespace croft::control::private_database {

struct Identity {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
};

// The named user when root, otherwise the own one. failed_precondition when there is no such user.
absl::StatusOr<Identity> FindIdentity(const std::string& os_user);

struct Program {
  std::string path;
  std::vector<std::string> arguments = {};  // without the program's name
  // File for its standard output and error, made anew; empty: /dev/null.
  std::string output = {};
  // Given to its standard input, at most 4 KiB.
  std::string input = {};
  // "NAME=value", beside PATH, LANG and TZ.
  std::vector<std::string> environment = {};
  // Unless negative, its standard input instead of `input`, and its standard output instead of
  // `output`, where errors still go.
  int standard_input = -1;
  int standard_output = -1;
};

// In a session of its own, so that a terminal's Ctrl-C does not reach it.
absl::StatusOr<pid_t> StartProgram(const Program& program, const Identity& identity);

// Runs it to its end; an error has the last lines of its output.
absl::Status RunProgram(const Program& program, const Identity& identity,
                        std::chrono::seconds timeout);

// Waits for the end of a program that StartProgram started; an error has the last lines of its
// output.
absl::Status AwaitProgram(const Program& program, pid_t pid);

// The last lines of a log file, for an error.
std::string Tail(const std::string& path);

// Refers to the process, not to whoever gets its number next.
absl::StatusOr<UniqueFd> OpenProcess(pid_t pid);
// True when the process has ended; reaps it if it is a child.
bool WaitForEnd(const UniqueFd& process, std::chrono::milliseconds timeout);

}  // namespace croft::control::private_database
