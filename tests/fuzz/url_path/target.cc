// A path that is taken has no dot segment left, and encoding it comes back to the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proto/base/check.h"
#include "proto/contract/url_path.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  using namespace croft::contract;
  const UrlPath once = NormalizeUrlPath(text);
  if (once.error == UrlPathError::kNone) {
    const std::string_view path = once.path;
    croft::Check(!path.empty() && path.front() == '/', "the path is not absolute");
    croft::Check((once.path + "/").find("/../") == std::string::npos, "a dot segment is left");
    croft::Check(path.find("//") == std::string_view::npos, "an empty segment is left");
    croft::Check(path.find('\0') == std::string_view::npos, "a NUL is left");
    croft::Check(NormalizeUrlPath(EncodeUrlPath(path)).path == path, "encoding changes the path");
  }
  const auto configured = ParseConfiguredPath(text);
  croft::Check(!configured.ok() || *ParseConfiguredPath(*configured) == *configured,
               "parsing twice changes the path");
  return 0;
}
