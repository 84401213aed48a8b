// Short ways to say what went wrong, with absl::Status and its codes (gRPC's own). A message names
// the thing and the way out.
#pragma once

#include <absl/status/status.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace croft {

template <typename... Args>
absl::Status Error(absl::StatusCode code, fmt::format_string<Args...> text, Args&&... args) {
  return absl::Status(code, fmt::format(text, std::forward<Args>(args)...));
}

// From errno, read at once: "open /x: No such file or directory".
template <typename... Args>
absl::Status ErrnoError(fmt::format_string<Args...> what, Args&&... args) {
  const int number = errno;
  return absl::ErrnoToStatus(number, fmt::format(what, std::forward<Args>(args)...));
}

}  // namespace croft
