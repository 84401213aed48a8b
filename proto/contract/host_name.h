// Host names, normalised once, on entry. Canonical form: A-labels (IDNA 2008, UTS #46
// non-transitional), lower case, no trailing dot; an IPv4 address in dotted form; an IPv6 literal
// in brackets, RFC 5952. Pure.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace croft::contract {

// An operator's input, possibly with U-labels: at most 253 bytes as A-labels, labels of 1..63, no
// mixed-script label. The error says which label and why.
absl::StatusOr<std::string> ParseHostName(std::string_view text);

// As ParseHostName, also "" (any host) and "*.name" (left-most label only).
absl::StatusOr<std::string> ParseBindingHost(std::string_view text);

struct HostHeader {
  std::string host;  // canonical
  std::optional<std::uint16_t> port;
};

// A request's Host header or authority (RFC 9110 §7.2): ASCII only, cheap, no IDNA conversion.
absl::StatusOr<HostHeader> ParseHostHeader(std::string_view value);

// With U-labels, for people; unchanged where a label is no valid A-label.
std::string DisplayHostName(std::string_view canonical);

}  // namespace croft::contract
