// ROOT, a line feed, a raw URL path: no accepted pair has a segment that could leave the root.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "node/worker/store/content_path.h"
#include "proto/base/check.h"
#include "proto/contract/url_path.h"

namespace {

void CheckPlain(const std::string& path) {
  const std::string framed = "/" + path + "/";
  croft::Check(framed.find("/../") == std::string::npos, "no segment leads up");
  croft::Check(framed.find("/./") == std::string::npos, "no segment stays");
  croft::Check(path.empty() || framed.find("//") == std::string::npos, "no segment is empty");
  croft::Check(path.find('\0') == std::string::npos, "no NUL ends the path early");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(input.find('\n'), input.size());
  const std::string_view root = input.substr(0, line);
  const auto url = croft::contract::NormalizeUrlPath(input.substr(std::min(line + 1, size)));
  if (url.error != croft::contract::UrlPathError::kNone) {
    return 0;
  }
  for (std::size_t strip = 0; strip <= url.path.size() + 1; ++strip) {
    const auto path = croft::node::worker::store::MakeContentPath(root, url.path, strip);
    if (path.has_value()) {
      CheckPlain(path->root);
      CheckPlain(path->below);
    }
  }
  return 0;
}
