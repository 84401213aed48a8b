#include "node/worker/http/hidden_segments.h"

#include <algorithm>
#include <utility>

namespace croft::node::worker::http {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Linear in practice: remembers only the last "*" (both are short).
bool Matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && pattern[p] == Lower(text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace

HiddenSegments::HiddenSegments(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {
  for (std::string& pattern : patterns_) {
    std::transform(pattern.begin(), pattern.end(), pattern.begin(), Lower);
    only_dotted_ = only_dotted_ && pattern.starts_with('.');
  }
}

bool HiddenSegments::HidesSegment(std::string_view segment) const {
  if (segment.empty() || segment == ".well-known" || (only_dotted_ && segment.front() != '.')) {
    return false;
  }
  return std::any_of(patterns_.begin(), patterns_.end(),
                     [&](const std::string& pattern) { return Matches(pattern, segment); });
}

bool HiddenSegments::Hides(std::string_view path) const {
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (HidesSegment(path.substr(0, slash))) {
      return true;
    }
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return false;
}

}  // namespace croft::node::worker::http
