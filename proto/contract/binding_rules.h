// Which site a request belongs to, with IIS's precedence: an explicit host beats an IP-bound
// binding without host; exact host before
// "*.host" (left-most label only); IP-bound before any address; none -> no site (400). Pure.
#pragma once

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "croft/v1/site.pb.h"

namespace croft::contract {

// An IPv4 address is held IPv4-mapped (::ffff:a.b.c.d); all zero means any address.
using IpBytes = std::array<std::uint8_t, 16>;

// Textual address, "*" or "" (any); no zone, no brackets.
absl::StatusOr<IpBytes> ParseIp(std::string_view text);
// "*" for any.
std::string FormatIp(const IpBytes& ip);

struct BindingKey {
  std::uint16_t port = 0;
  IpBytes ip{};
  std::string host;  // "", "shop.example" or "*.shop.example"
};

// port (2 bytes, big endian) + ip (16) + host: unique per farm, the key in PostgreSQL and in the
// replica, so that all bindings of one (port, ip) are neighbours.
std::string EncodeBindingKey(const BindingKey& key);
absl::StatusOr<BindingKey> DecodeBindingKey(std::string_view encoded);

// The canonical binding: ip, port, host and protocol filled in.
absl::StatusOr<v1::Binding> NormalizeBinding(const v1::Binding& binding);
// REQUIRES: normalised.
BindingKey MakeBindingKey(const v1::Binding& binding);
// "*:80:shop.example"; IPv6 in brackets: "[::1]:80:". Parse takes the same, and "host" alone,
// "host:port".
std::string FormatBinding(const v1::Binding& binding);
absl::StatusOr<v1::Binding> ParseBinding(std::string_view text);

// Keys to try, best first, for a request with canonical `host` ("" if none) that arrived at (ip,
// port). At most six.
std::vector<BindingKey> BindingCandidates(const IpBytes& ip, std::uint16_t port,
                                          std::string_view host);

// The site of the first candidate that `lookup` knows. Allocates at most once (the hot path).
std::optional<std::int64_t> FindSite(
    const IpBytes& ip, std::uint16_t port, std::string_view host,
    const std::function<std::optional<std::int64_t>(std::string_view encoded_key)>& lookup);

}  // namespace croft::contract
