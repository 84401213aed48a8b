// A wait(2) status in words. Pure.
#pragma once

#include <sys/wait.h>

#include <string>

namespace croft::node::agent {

inline bool IsCleanExit(int wait_status) {
  return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
}

inline bool DiedOf(int wait_status, int signal) {
  return WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == signal;
}

// "exited with 3", "was killed by signal 9".
inline std::string DescribeExit(int wait_status) {
  return WIFSIGNALED(wait_status) ? "was killed by signal " + std::to_string(WTERMSIG(wait_status))
                                  : "exited with " + std::to_string(WEXITSTATUS(wait_status));
}

}  // namespace croft::node::agent
