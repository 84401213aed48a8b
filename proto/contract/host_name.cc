#include "proto/contract/host_name.h"

#include <arpa/inet.h>
#include <idn2.h>

#include <algorithm>
#include <array>
#include <memory>

#include "proto/base/error.h"
#include "proto/contract/label_scripts.h"
#include "proto/contract/text_rules.h"

namespace croft::contract {
namespace {

constexpr std::size_t kNameBytesMax = 253;
constexpr std::size_t kLabelBytesMax = 63;
// A name in U-labels can be longer in bytes than its A-labels; beyond this it cannot fit.
constexpr std::size_t kInputBytesMax = 1024;

using IdnText = std::unique_ptr<char, decltype(&idn2_free)>;

absl::Status Invalid(std::string_view text, std::string_view why) {
  return Error(absl::StatusCode::kInvalidArgument, "host name \"{}\": {}", Shorten(text), why);
}

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// An IPv6 literal's inside in RFC 5952 form, or nothing.
std::optional<std::string> CanonicalIpv6(std::string_view inside) {
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  if (inside.size() >= buffer.size()) {
    return std::nullopt;
  }
  std::copy(inside.begin(), inside.end(), buffer.begin());
  in6_addr address{};
  if (inet_pton(AF_INET6, buffer.data(), &address) != 1) {
    return std::nullopt;
  }
  inet_ntop(AF_INET6, &address, buffer.data(), buffer.size());
  return std::string(buffer.data());
}

bool IsIpv4(const std::string& text) {
  in_addr address{};
  return inet_pton(AF_INET, text.c_str(), &address) == 1;
}

// Whether a resolver would take the name for an IPv4 address: its last label is a number (WHATWG
// URL, "ends in a number").
bool EndsInNumber(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  const auto is_digit = IsDigit;
  const auto is_hex = [](char c) { return HexValue(c) >= 0; };
  if (last.substr(0, 2) == "0x") {
    return std::all_of(last.begin() + 2, last.end(), is_hex);
  }
  return !last.empty() && std::all_of(last.begin(), last.end(), is_digit);
}

// Dots that UTS #46 maps to "." become ".", so that labels can be named before they are converted.
std::string UnifyDots(std::string_view text) {
  std::string unified;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view three = text.substr(i, 3);
    if (three == "\u3002" || three == "\uFF0E" || three == "\uFF61") {
      unified += '.';
      i += 3;
    } else {
      unified += text[i++];
    }
  }
  return unified;
}

// The first ASCII character that no label may have, described; empty if there is none.
std::string FindBadCharacter(std::string_view label) {
  for (const char c : label) {
    if (c == ' ') {
      return "has a space";
    }
    if (c == '_') {
      return "has an underscore, which host names may not have; use a hyphen";
    }
    if (IsControl(c)) {
      return "has a control character";
    }
    if (static_cast<unsigned char>(c) < 0x80 && !IsLetter(c) && !IsDigit(c) && c != '-') {
      return fmt::format("has the character \"{}\"; letters, digits and hyphens are allowed", c);
    }
  }
  return {};
}

struct LabelResult {
  std::string label;  // A-label or lower-case ASCII label
  std::string fault;  // empty if valid
};

// REQUIRES: not pure ASCII, or begins with "xn--".
LabelResult ConvertLabel(const std::string& label) {
  char* raw = nullptr;
  constexpr int kFlags = IDN2_NONTRANSITIONAL | IDN2_NFC_INPUT;
  int code = idn2_to_ascii_8z(label.c_str(), &raw, kFlags);
  const IdnText ascii(raw, &idn2_free);
  if (code != IDN2_OK) {
    return {"", fmt::format("is no valid international label: {}", idn2_strerror(code))};
  }
  char* raw_unicode = nullptr;
  code = idn2_to_unicode_8z8z(ascii.get(), &raw_unicode, kFlags);
  const IdnText unicode(raw_unicode, &idn2_free);
  if (code != IDN2_OK) {
    return {"", fmt::format("is no valid international label: {}", idn2_strerror(code))};
  }
  char* raw_again = nullptr;
  code = idn2_to_ascii_8z(unicode.get(), &raw_again, kFlags);
  const IdnText again(raw_again, &idn2_free);
  if (code != IDN2_OK || std::string_view(again.get()) != ascii.get()) {
    return {"", "is not what its international form converts to"};
  }
  if (const std::string mixed = FindMixedScripts(unicode.get()); !mixed.empty()) {
    return {"", fmt::format("mixes {}, which can imitate another name", mixed)};
  }
  return {ascii.get(), ""};
}

LabelResult ParseLabel(const std::string& label) {
  if (label.empty()) {
    return {"", "is empty"};
  }
  if (std::string fault = FindBadCharacter(label); !fault.empty()) {
    return {"", std::move(fault)};
  }
  LabelResult result{LowerAscii(label), ""};
  const bool is_international = !IsAscii(label) || result.label.substr(0, 4) == "xn--";
  if (result.label.size() > kLabelBytesMax && IsAscii(label)) {
    return {"", fmt::format("has {} characters; at most 63 are allowed", label.size())};
  }
  if (is_international) {
    result = ConvertLabel(result.label);
  }
  if (!result.fault.empty()) {
    return result;
  }
  // What UTS #46 maps a character to has to obey the same rules.
  result.fault = FindBadCharacter(result.label);
  if (result.fault.empty() && (result.label.empty() || !IsAscii(result.label))) {
    result.fault = "is no valid international label";
  }
  if (result.fault.empty() && (result.label.front() == '-' || result.label.back() == '-')) {
    result.fault = "begins or ends with a hyphen";
  }
  return result;
}

absl::StatusOr<std::string> ParseIpv6Literal(std::string_view text) {
  if (text.back() == ']') {
    if (const auto address = CanonicalIpv6(text.substr(1, text.size() - 2))) {
      return fmt::format("[{}]", *address);
    }
  }
  return Invalid(text, "is no IPv6 address in brackets, such as [2001:db8::1]");
}

absl::StatusOr<std::string> ParseLabels(std::string_view text) {
  std::string unified = UnifyDots(text);
  if (unified.back() == '.') {
    unified.pop_back();
  }
  std::string name;
  int position = 0;
  for (const std::string_view part : Split(unified, '.')) {
    ++position;
    const LabelResult result = ParseLabel(std::string(part));
    if (!result.fault.empty()) {
      return Invalid(text, part.empty() ? fmt::format("label {} is empty (two dots in a row, or "
                                                      "a dot at the beginning)",
                                                      position)
                                        : fmt::format("label {} (\"{}\") {}", position,
                                                      Shorten(part, 63), result.fault));
    }
    name += name.empty() ? "" : ".";
    name += result.label;
  }
  if (name.size() > kNameBytesMax) {
    return Invalid(text, fmt::format("has {} characters; at most 253 are allowed", name.size()));
  }
  if (EndsInNumber(name) && !IsIpv4(name)) {
    return Invalid(text, "ends in a number but is no IPv4 address such as 192.0.2.1");
  }
  return name;
}

}  // namespace

absl::StatusOr<std::string> ParseHostName(std::string_view text) {
  if (text.empty()) {
    return absl::InvalidArgumentError("host name is empty");
  }
  const bool is_too_long_ascii = IsAscii(text) && text.size() > kNameBytesMax + 1;
  if (is_too_long_ascii || text.size() > kInputBytesMax) {
    return Invalid(text, fmt::format("has {} characters; at most 253 are allowed", text.size()));
  }
  if (!IsUtf8(text)) {
    return Invalid(text, "is not valid UTF-8");
  }
  if (text.front() == '[') {
    return ParseIpv6Literal(text);
  }
  return ParseLabels(text);
}

absl::StatusOr<std::string> ParseBindingHost(std::string_view text) {
  if (text.empty()) {
    return std::string();
  }
  if (text == "*") {
    return Invalid(text, "leave the host empty for any host, or give a name after \"*.\"");
  }
  if (text.substr(0, 2) != "*.") {
    if (text.find('*') != std::string_view::npos) {
      return Invalid(text, "\"*\" may only stand alone as the first label, as in *.shop.example");
    }
    return ParseHostName(text);
  }
  auto name = ParseHostName(text.substr(2));
  if (!name.ok()) {
    return name;
  }
  if (name->front() == '[' || EndsInNumber(*name)) {
    return Invalid(text, "\"*.\" needs a name after it, not an address");
  }
  if (name->size() + 2 > kNameBytesMax) {
    return Invalid(text, fmt::format("has {} characters; at most 253 are allowed", name->size()));
  }
  return "*." + *name;
}

namespace {

absl::StatusOr<std::optional<std::uint16_t>> ParseHeaderPort(std::string_view digits) {
  if (digits.empty()) {
    return std::optional<std::uint16_t>();
  }
  std::uint32_t port = 0;
  for (const char c : digits.substr(0, 6)) {
    if (!IsDigit(c)) {
      return absl::InvalidArgumentError("Host: the port is no number");
    }
    port = port * 10 + static_cast<std::uint32_t>(c - '0');
  }
  if (digits.size() > 5 || port > 65535) {
    return absl::InvalidArgumentError("Host: the port is above 65535");
  }
  return std::optional<std::uint16_t>(static_cast<std::uint16_t>(port));
}

// Lower-cases into `host`. Empty result: valid.
std::string_view TakeHeaderName(std::string_view name, std::string& host) {
  if (!name.empty() && name.back() == '.') {
    name.remove_suffix(1);
  }
  if (name.empty()) {
    return "Host: the name is empty";
  }
  if (name.size() > kNameBytesMax) {
    return "Host: the name is longer than 253 characters";
  }
  host.resize(name.size());
  std::size_t label_begin = 0;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    if (i == name.size() || name[i] == '.') {
      if (i == label_begin) {
        return "Host: a label is empty";
      }
      if (i - label_begin > kLabelBytesMax) {
        return "Host: a label is longer than 63 characters";
      }
      label_begin = i + 1;
    } else if (!IsLetter(name[i]) && !IsDigit(name[i]) && name[i] != '-' && name[i] != '_') {
      return "Host: the name has a character that no host name has";
    }
    if (i < name.size()) {
      host[i] = LowerAscii(name[i]);
    }
  }
  return {};
}

}  // namespace

absl::StatusOr<HostHeader> ParseHostHeader(std::string_view value) {
  HostHeader header;
  if (value.empty()) {
    return header;
  }
  std::string_view rest;
  if (value.front() == '[') {
    const std::size_t end = value.find(']');
    const auto address =
        CanonicalIpv6(value.substr(1, end == std::string_view::npos ? 0 : end - 1));
    if (!address) {
      return absl::InvalidArgumentError("Host: no IPv6 address in brackets");
    }
    header.host = "[" + *address + "]";
    rest = value.substr(end + 1);
  } else {
    const std::size_t end = std::min(value.find(':'), value.size());
    if (const std::string_view fault = TakeHeaderName(value.substr(0, end), header.host);
        !fault.empty()) {
      return absl::InvalidArgumentError(std::string(fault));
    }
    rest = value.substr(end);
  }
  if (rest.empty()) {
    return header;
  }
  if (rest.front() != ':') {
    return absl::InvalidArgumentError("Host: text after the IPv6 address");
  }
  auto port = ParseHeaderPort(rest.substr(1));
  if (!port.ok()) {
    return port.status();
  }
  header.port = *port;
  return header;
}

std::string DisplayHostName(std::string_view canonical) {
  if (canonical.find("xn--") == std::string_view::npos) {
    return std::string(canonical);
  }
  std::string shown;
  bool first = true;
  for (const std::string_view label : Split(canonical, '.')) {
    shown += first ? "" : ".";
    first = false;
    char* raw = nullptr;
    const std::string text(label);
    const bool is_unicode =
        text.substr(0, 4) == "xn--" && ConvertLabel(text).fault.empty() &&
        idn2_to_unicode_8z8z(text.c_str(), &raw, IDN2_NONTRANSITIONAL) == IDN2_OK;
    const IdnText unicode(raw, &idn2_free);
    shown += is_unicode ? unicode.get() : text.c_str();
  }
  return shown;
}

}  // namespace croft::contract
