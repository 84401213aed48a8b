// A path that is taken stays below its store.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proto/base/check.h"
#include "proto/contract/url_path.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto path = croft::contract::ParseRelativePath(text);
  if (path.ok()) {
    croft::Check(path->empty() || path->front() != '/', "the path is absolute");
    croft::Check(("/" + *path + "/").find("/../") == std::string::npos,
                 "the path leaves its store");
    croft::Check(path->find('\0') == std::string::npos, "a NUL is left");
    croft::Check(*croft::contract::ParseRelativePath(*path) == *path, "parsing twice changes it");
  }
  return 0;
}
