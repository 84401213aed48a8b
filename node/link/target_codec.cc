#include "node/link/target_codec.h"

#include <absl/strings/escaping.h>

#include <charconv>

#include "proto/base/error.h"

namespace croft::node::link {
namespace {

constexpr std::size_t kTargetBytesMax = 8 * 1024;
constexpr std::size_t kStripMax = 64 * 1024;

bool IsRootCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
         c == '-' || c == '_' || c == '.' || c == '~' || c == '+' || c == '@' || c == '=';
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'A' && c <= 'F') {
    return c - 'A' + 10;
  }
  return -1;
}

void AppendNumber(std::string& out, std::uint64_t number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}

// Digits only: no sign, no space, no empty text.
absl::StatusOr<std::uint64_t> ParseNumber(std::string_view text, std::uint64_t max,
                                          std::string_view what) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > max) {
    return Error(absl::StatusCode::kInvalidArgument, "{} is no number of 0..{}", what, max);
  }
  return value;
}

absl::StatusOr<std::string> DecodeRoot(std::string_view text) {
  std::string root;
  root.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      if (!IsRootCharacter(text[i])) {
        return absl::InvalidArgumentError("a target's root has an unencoded character");
      }
      root += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
    if (high < 0 || low < 0 || (high == 0 && low == 0)) {
      return absl::InvalidArgumentError("a target's root has a bad escape");
    }
    root += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return root;
}

}  // namespace

std::string EncodeTarget(const Target& target) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(target.root.size() + 16);
  AppendNumber(out, target.settings_number);
  out += ',';
  AppendNumber(out, target.strip);
  out += ',';
  for (const char c : target.root) {
    if (IsRootCharacter(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

absl::StatusOr<Target> DecodeTarget(std::string_view header) {
  if (header.size() > kTargetBytesMax) {
    return absl::InvalidArgumentError("a target is longer than 8 KiB");
  }
  const std::size_t first = header.find(',');
  const std::size_t second =
      first == std::string_view::npos ? std::string_view::npos : header.find(',', first + 1);
  if (second == std::string_view::npos) {
    return absl::InvalidArgumentError("a target is not NUMBER,STRIP,ROOT");
  }
  const auto number =
      ParseNumber(header.substr(0, first), kSettingsNumbers - 1, "a target's settings number");
  if (!number.ok()) {
    return number.status();
  }
  const auto strip =
      ParseNumber(header.substr(first + 1, second - first - 1), kStripMax, "a target's strip");
  if (!strip.ok()) {
    return strip.status();
  }
  auto root = DecodeRoot(header.substr(second + 1));
  if (!root.ok()) {
    return root.status();
  }
  Target target;
  target.settings_number = static_cast<std::uint32_t>(*number);
  target.strip = static_cast<std::size_t>(*strip);
  target.root = *std::move(root);
  return target;
}

std::string EncodeSettings(std::uint32_t number, const node::v1::TargetSettings& settings) {
  std::string out;
  AppendNumber(out, number);
  out += '=';
  out += absl::WebSafeBase64Escape(settings.SerializeAsString());
  return out;
}

absl::StatusOr<NumberedSettings> DecodeSettings(std::string_view header) {
  if (header.size() > kSettingsBytesMax) {
    return absl::InvalidArgumentError("a target's settings are longer than 32 KiB");
  }
  const std::size_t equals = header.find('=');
  if (equals == std::string_view::npos) {
    return absl::InvalidArgumentError("a target's settings are not NUMBER=BASE64URL");
  }
  const auto number =
      ParseNumber(header.substr(0, equals), kSettingsNumbers - 1, "a settings number");
  if (!number.ok()) {
    return number.status();
  }
  std::string bytes;
  const std::string_view base64 = header.substr(equals + 1);
  if (!absl::WebSafeBase64Unescape(absl::string_view(base64.data(), base64.size()), &bytes)) {
    return absl::InvalidArgumentError("a target's settings are no base64url");
  }
  NumberedSettings result;
  result.number = static_cast<std::uint32_t>(*number);
  if (!result.settings.ParseFromString(bytes)) {
    return absl::InvalidArgumentError("a target's settings are no TargetSettings message");
  }
  return result;
}

}  // namespace croft::node::link
