#include "proto/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace croft {

void CheckFailed(std::string_view why, const char* file, int line) noexcept {
  std::fprintf(stderr, "level=fatal at=%s:%d msg=\"%.*s\"\n", file, line,
               static_cast<int>(why.size()), why.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace croft
