// Patterns of path segments that are never served (IIS hiddenSegments). Immutable, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace croft::node::worker::http {

class HiddenSegments {
 public:
  HiddenSegments() = default;
  // "*" matches any run of characters; ASCII letter case is ignored.
  explicit HiddenSegments(std::vector<std::string> patterns);

  // Whether any segment of a normalised path is hidden. ".well-known" never is.
  bool Hides(std::string_view path) const;
  bool HidesSegment(std::string_view segment) const;

 private:
  std::vector<std::string> patterns_;  // lower case
  bool only_dotted_ = true;            // every pattern begins with "."
};

}  // namespace croft::node::worker::http
