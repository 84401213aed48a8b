#include "proto/contract/url_path.h"

#include <algorithm>

#include "proto/base/error.h"
#include "proto/contract/text_rules.h"

namespace croft::contract {
namespace {

constexpr std::size_t kConfiguredPathBytesMax = 2048;
constexpr std::size_t kRelativePathBytesMax = 2048;
constexpr std::size_t kSegmentBytesMax = 255;

// The byte that "%hh" at `at` stands for, -1 if there is no such escape.
int EscapeAt(std::string_view text, std::size_t at) {
  if (at + 2 >= text.size() || text[at] != '%') {
    return -1;
  }
  const int high = HexValue(text[at + 1]);
  const int low = HexValue(text[at + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

bool HasEscape(std::string_view text) {
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    if (EscapeAt(text, at) >= 0) {
      return true;
    }
  }
  return false;
}

struct Decoded {
  UrlPathError error = UrlPathError::kNone;
  std::string text;
  bool has_dots = false;     // perhaps a dot segment or an empty one
  bool has_percent = false;  // an encoded percent sign
  bool has_non_ascii = false;
};

UrlPathError JudgeByte(char byte, bool encoded) {
  if (IsControl(byte)) {
    return UrlPathError::kControlCharacter;
  }
  if (byte == '\\') {
    return encoded ? UrlPathError::kEncodedSlash : UrlPathError::kBackslash;
  }
  return encoded && byte == '/' ? UrlPathError::kEncodedSlash : UrlPathError::kNone;
}

Decoded Decode(std::string_view raw) {
  Decoded decoded;
  decoded.text.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    char byte = raw[i];
    const bool encoded = byte == '%';
    if (encoded) {
      const int value = EscapeAt(raw, i);
      if (value < 0) {
        decoded.error = UrlPathError::kBadEscape;
        return decoded;
      }
      byte = static_cast<char>(value);
      decoded.has_percent |= byte == '%';
      i += 2;
    }
    decoded.error = JudgeByte(byte, encoded);
    if (decoded.error != UrlPathError::kNone) {
      return decoded;
    }
    const bool after_slash = !decoded.text.empty() && decoded.text.back() == '/';
    decoded.has_dots |= after_slash && (byte == '.' || byte == '/');
    decoded.has_non_ascii |= static_cast<unsigned char>(byte) >= 0x80;
    decoded.text += byte;
  }
  return decoded;
}

// Resolves dot segments and merges empty ones; false if ".." leads past the root. REQUIRES: begins
// with "/".
bool ResolveSegments(std::string& path) {
  std::string resolved;
  resolved.reserve(path.size());
  std::string_view rest = path;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::size_t size = std::min(rest.find('/'), rest.size());
    const std::string_view segment = rest.substr(0, size);
    rest.remove_prefix(size);
    if (segment == "..") {
      if (resolved.empty()) {
        return false;
      }
      resolved.resize(resolved.rfind('/'));
    } else if (!segment.empty() && segment != ".") {
      resolved += '/';
      resolved += segment;
      continue;
    }
    if (rest.empty()) {
      resolved += '/';
    }
  }
  path = std::move(resolved);
  return true;
}

absl::Status InvalidPath(std::string_view text, std::string_view why) {
  return Error(absl::StatusCode::kInvalidArgument, "path \"{}\": {}", Shorten(text), why);
}

// What is wrong with one segment of a store's path; empty if nothing.
std::string_view FindSegmentFault(std::string_view segment) {
  if (segment.empty()) {
    return "it has a doubled slash";
  }
  if (segment == "." || segment == "..") {
    return "it may have no \".\" or \"..\" segment";
  }
  return segment.size() > kSegmentBytesMax ? "a segment is longer than 255 bytes"
                                           : std::string_view();
}

}  // namespace

UrlPath NormalizeUrlPath(std::string_view raw) {
  if (raw.empty() || raw.front() != '/') {
    return {UrlPathError::kNotAbsolute, ""};
  }
  Decoded decoded = Decode(raw);
  if (decoded.error != UrlPathError::kNone) {
    return {decoded.error, ""};
  }
  if (decoded.has_percent && HasEscape(decoded.text)) {
    return {UrlPathError::kDoubleEncoded, ""};
  }
  if (decoded.has_non_ascii && !IsUtf8(decoded.text)) {
    return {UrlPathError::kNotUtf8, ""};
  }
  if (decoded.has_dots && !ResolveSegments(decoded.text)) {
    return {UrlPathError::kAboveRoot, ""};
  }
  return {UrlPathError::kNone, std::move(decoded.text)};
}

std::string_view Describe(UrlPathError error) {
  switch (error) {
    case UrlPathError::kNone:
      return "the path is valid";
    case UrlPathError::kNotAbsolute:
      return "the path does not begin with \"/\"";
    case UrlPathError::kBadEscape:
      return "a \"%\" is not followed by two hexadecimal digits";
    case UrlPathError::kEncodedSlash:
      return "a slash or backslash is percent-encoded";
    case UrlPathError::kControlCharacter:
      return "the path has a control character";
    case UrlPathError::kDoubleEncoded:
      return "the path is percent-encoded twice";
    case UrlPathError::kAboveRoot:
      return "\"..\" leads above the root";
    case UrlPathError::kBackslash:
      return "the path has a backslash";
    case UrlPathError::kNotUtf8:
      return "the path is not UTF-8";
  }
  return "the path is invalid";
}

std::string EncodeUrlPath(std::string_view path) {
  constexpr std::string_view kPlain = "-._~!$&'()*+,;=:@/";
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(path.size() + 16);
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (IsLetter(c) || IsDigit(c) || kPlain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += '%';
      encoded += kDigits[byte >> 4];
      encoded += kDigits[byte & 15];
    }
  }
  return encoded;
}

absl::StatusOr<std::string> ParseConfiguredPath(std::string_view text) {
  if (text.empty() || text.front() != '/') {
    return InvalidPath(text, "it has to begin with \"/\"");
  }
  if (text.size() > kConfiguredPathBytesMax) {
    return InvalidPath(text, "it is longer than 2048 bytes");
  }
  // Taken as it is, so that a second normalisation changes nothing: a decoded request path never
  // holds an escape.
  if (HasEscape(text)) {
    return InvalidPath(text, "write the character itself instead of a percent-escape");
  }
  if (HasControl(text) || text.find('\\') != std::string_view::npos) {
    return InvalidPath(text, "it may have no control characters and no backslash");
  }
  if (!IsUtf8(text)) {
    return InvalidPath(text, "it is not UTF-8");
  }
  std::string path(text);
  if (!ResolveSegments(path)) {
    return InvalidPath(text, Describe(UrlPathError::kAboveRoot));
  }
  if (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
  return path;
}

absl::StatusOr<std::string> ParseRelativePath(std::string_view text) {
  if (text.empty()) {
    return std::string();
  }
  if (text.front() == '/') {
    return InvalidPath(text, "it is relative to its store; leave out the leading slash");
  }
  if (text.size() > kRelativePathBytesMax) {
    return InvalidPath(text, "it is longer than 2048 bytes");
  }
  if (HasControl(text)) {
    return InvalidPath(text, "it may have no control characters");
  }
  if (!IsUtf8(text)) {
    return InvalidPath(text, "it is not UTF-8");
  }
  std::string_view path = text;
  if (path.back() == '/') {
    path.remove_suffix(1);
  }
  for (const std::string_view segment : Split(path, '/')) {
    if (const std::string_view fault = FindSegmentFault(segment); !fault.empty()) {
      return InvalidPath(text, fault);
    }
  }
  return std::string(path);
}

}  // namespace croft::contract
