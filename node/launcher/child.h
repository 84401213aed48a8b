// Starts one of our programs as one identity: everything between fork and exec is here. The child
// keeps its standard output and error and the descriptors named, nothing else of the launcher: no
// capability, no way to gain one, a clean environment, its own session; it dies with the launcher.
#pragma once

#include <absl/status/statusor.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "node/launcher/identities.h"

namespace croft::node::launcher {

// Neither descriptor is owned.
struct OpenProgram {
  int file = -1;
  int directory = -1;  // that the file is in
};

struct ChildPlan {
  std::vector<std::string> arguments;    // the first is the program's file name
  std::vector<std::string> environment;  // "NAME=value"
  OpenProgram program;
  std::vector<int> descriptors;  // become 3, 4, ...
  Identity identity;
  bool become_identity = false;  // false: stay who the launcher is
  rlim_t descriptors_max = 1024;
  int oom_score = 0;  // -1000..1000, higher is killed first
};

// The pid of a process that has begun the program. The error names the step that failed. REQUIRES:
// the caller is single-threaded.
absl::StatusOr<pid_t> StartChild(const ChildPlan& plan);

// Field 22 of /proc/PID/stat; 0 if there is no such process.
std::uint64_t StartTimeOf(pid_t pid);

// What children may see of the launcher's environment: CROFT_LOG and TZ, and a fixed locale and
// PATH.
std::vector<std::string> ChildEnvironment();

}  // namespace croft::node::launcher
