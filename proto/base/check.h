// Check: for what cannot happen unless Croft itself is wrong. Always on. Never for what a peer, a
// file or a row can cause.
#pragma once

#include <string_view>

namespace croft {

[[noreturn]] void CheckFailed(std::string_view why, const char* file, int line) noexcept;

// Ends the process with `why` and the caller's position unless `condition` holds.
inline void Check(bool condition, std::string_view why, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) noexcept {
  if (!condition) [[unlikely]] {
    CheckFailed(why, file, line);
  }
}

}  // namespace croft
