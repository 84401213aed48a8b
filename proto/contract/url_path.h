// URL path normalisation (RFC 3986 §6.2.2, §5.2.4), done once, by this one function. Pure.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

namespace croft::contract {

enum class UrlPathError {
  kNone,
  kNotAbsolute,       // does not begin with "/"
  kBadEscape,         // "%zz", "%u0041", a lone "%"
  kEncodedSlash,      // %2F or %5C
  kControlCharacter,  // NUL and other control characters, encoded or raw
  kDoubleEncoded,     // decoding a second time would change it (IIS 404.11)
  kAboveRoot,         // ".." past the root
  kBackslash,         // raw "\"
  kNotUtf8,
};

struct UrlPath {
  UrlPathError error = UrlPathError::kNone;
  // Decoded once, dot segments resolved, empty segments merged; begins with "/", keeps a trailing
  // "/".
  std::string path;
};

// `raw` is the path of the request target without "?query". An absolute-form target's authority is
// already removed.
UrlPath NormalizeUrlPath(std::string_view raw);

// One sentence for error log and `explain`.
std::string_view Describe(UrlPathError error);

// Percent-encodes what RFC 3986 does not allow in a path; "/" stays.
std::string EncodeUrlPath(std::string_view path);

// An operator's path ("/a/b" of an application, a virtual directory, path settings): normalised, no
// trailing "/", "/" for the root.
absl::StatusOr<std::string> ParseConfiguredPath(std::string_view text);

// A root's path relative to its store: no "..", no leading or doubled slash, no control characters;
// "" is the store itself.
absl::StatusOr<std::string> ParseRelativePath(std::string_view text);

}  // namespace croft::contract
