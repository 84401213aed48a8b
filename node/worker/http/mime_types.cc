#include "node/worker/http/mime_types.h"

#include <algorithm>

namespace croft::node::worker::http {
namespace {

constexpr std::size_t kExtensionBytesMax = 32;

// Lower-case extension into `buffer`; empty when there is none. ".profile" has none.
std::string_view Extension(std::string_view file_name, char (&buffer)[kExtensionBytesMax]) {
  const std::size_t slash = file_name.rfind('/');
  const std::string_view name =
      slash == std::string_view::npos ? file_name : file_name.substr(slash + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) {
    return {};
  }
  const std::string_view extension = name.substr(dot + 1);
  if (extension.size() > kExtensionBytesMax) {
    return {};
  }
  std::transform(extension.begin(), extension.end(), buffer, [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return {buffer, extension.size()};
}

}  // namespace

std::string_view FindMimeType(std::string_view file_name, const MimeOverrides& overrides) {
  char buffer[kExtensionBytesMax];
  const std::string_view extension = Extension(file_name, buffer);
  if (extension.empty()) {
    return {};
  }
  if (!overrides.empty()) {
    const auto own = overrides.find(extension);
    if (own != overrides.end()) {
      return own->second;
    }
  }
  const auto table = BuiltInMimeTypes();
  const auto at = std::lower_bound(
      table.begin(), table.end(), extension,
      [](const MimeEntry& entry, std::string_view wanted) { return entry.extension < wanted; });
  return at != table.end() && at->extension == extension ? at->type : std::string_view();
}

}  // namespace croft::node::worker::http
