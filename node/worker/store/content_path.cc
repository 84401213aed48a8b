#include "node/worker/store/content_path.h"

namespace croft::node::worker::store {
namespace {

bool IsPlainRelative(std::string_view path) {
  if (path.empty()) {
    return true;
  }
  if (path.find('\0') != std::string_view::npos) {
    return false;
  }
  while (true) {
    const std::size_t slash = path.find('/');
    const std::string_view segment = path.substr(0, slash);
    if (segment.empty() || segment == "." || segment == "..") {
      return false;
    }
    if (slash == std::string_view::npos) {
      return true;
    }
    path.remove_prefix(slash + 1);
  }
}

}  // namespace

std::optional<ContentPath> MakeContentPath(std::string_view root, std::string_view path,
                                           std::size_t strip) {
  if (strip > path.size()) {
    return std::nullopt;
  }
  std::string_view below = path.substr(strip);
  if (!below.empty()) {
    if (below.front() != '/') {
      return std::nullopt;
    }
    below.remove_prefix(1);
  }
  if (below.ends_with('/')) {
    below.remove_suffix(1);
  }
  if (!IsPlainRelative(root) || !IsPlainRelative(below)) {
    return std::nullopt;
  }
  return ContentPath{std::string(root), std::string(below)};
}

}  // namespace croft::node::worker::store
