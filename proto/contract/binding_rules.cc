#include "proto/contract/binding_rules.h"

#include <arpa/inet.h>

#include <algorithm>

#include "proto/base/error.h"
#include "proto/contract/errors.h"
#include "proto/contract/host_name.h"
#include "proto/contract/text_rules.h"

namespace croft::contract {
namespace {

constexpr std::uint32_t kDefaultPort = 80;
constexpr std::size_t kKeyHeadBytes = 18;
constexpr std::size_t kHostBytesMax = 255;
constexpr IpBytes kAnyIp{};

absl::Status InvalidBinding(std::string_view text, std::string_view why) {
  return Error(absl::StatusCode::kInvalidArgument,
               "binding \"{}\": {}; expected IP:PORT:HOST such as *:80:shop.example, with an "
               "IPv6 address in brackets",
               Shorten(text), why);
}

absl::StatusOr<std::uint32_t> ParsePort(std::string_view digits) {
  std::uint32_t port = 0;
  const bool is_number =
      !digits.empty() && digits.size() <= 5 && std::all_of(digits.begin(), digits.end(), IsDigit);
  for (const char c : is_number ? digits : std::string_view()) {
    port = port * 10 + static_cast<std::uint32_t>(c - '0');
  }
  if (port == 0 || port > 65535) {
    return Error(absl::StatusCode::kInvalidArgument, "port \"{}\" is not in 1..65535",
                 Shorten(digits, 20));
  }
  return port;
}

bool IsAddress(std::string_view host) { return host.front() == '[' || IsDigit(host.back()); }

// Calls try_key(ip, star, name) for each key to try, best first, until it returns true; the key's
// host is "*." + name if star.
template <typename TryKey>
bool ForEachCandidate(const IpBytes& ip, std::string_view host, const TryKey& try_key) {
  const auto try_both = [&](bool star, std::string_view name) {
    return (ip != kAnyIp && try_key(ip, star, name)) || try_key(kAnyIp, star, name);
  };
  if (!host.empty()) {
    if (try_both(false, host)) {
      return true;
    }
    const std::size_t dot = host.find('.');
    if (dot != std::string_view::npos && !IsAddress(host) && try_both(true, host.substr(dot + 1))) {
      return true;
    }
  }
  return try_both(false, "");
}

void AssignKey(std::string& encoded, const IpBytes& ip, std::uint16_t port, bool star,
               std::string_view name) {
  encoded.clear();
  encoded += static_cast<char>(port >> 8);
  encoded += static_cast<char>(port & 0xFF);
  encoded.append(reinterpret_cast<const char*>(ip.data()), ip.size());
  encoded += star ? "*." : "";
  encoded += name;
}

struct BindingParts {
  std::string_view ip;
  std::optional<std::string_view> port;
  std::string_view host;
};

// Splits "ip:port:host", "host:port" or "host"; brackets keep their colons. Nothing if a bracket is
// not closed.
std::optional<BindingParts> SplitBinding(std::string_view text) {
  const std::size_t bracket = text.front() == '[' ? text.find(']') : 0;
  if (bracket == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t first = text.find(':', bracket);
  const std::string_view head = text.substr(0, first);
  const bool is_any = head.empty() || head == "*";
  if (first == std::string_view::npos) {
    return BindingParts{"*", std::nullopt, is_any ? "" : head};
  }
  const std::string_view tail = text.substr(first + 1);
  const std::size_t second = tail.find(':');
  if (second == std::string_view::npos) {
    return BindingParts{"*", tail, is_any ? "" : head};
  }
  const bool is_bracketed = head.size() >= 2 && head.front() == '[' && head.back() == ']';
  return BindingParts{is_bracketed ? head.substr(1, head.size() - 2) : head, tail.substr(0, second),
                      tail.substr(second + 1)};
}

}  // namespace

absl::StatusOr<IpBytes> ParseIp(std::string_view text) {
  IpBytes ip{};
  if (text.empty() || text == "*") {
    return ip;
  }
  const std::string terminated(text.substr(0, INET6_ADDRSTRLEN));
  if (text.size() < INET6_ADDRSTRLEN && text.find('\0') == std::string_view::npos) {
    if (inet_pton(AF_INET6, terminated.c_str(), ip.data()) == 1) {
      return ip;
    }
    std::array<std::uint8_t, 4> v4{};
    if (inet_pton(AF_INET, terminated.c_str(), v4.data()) == 1) {
      if (v4 != std::array<std::uint8_t, 4>{}) {
        ip[10] = ip[11] = 0xFF;
        std::copy(v4.begin(), v4.end(), ip.begin() + 12);
      }
      return ip;
    }
  }
  return Error(absl::StatusCode::kInvalidArgument,
               "\"{}\" is no IP address; expected \"*\", an IPv4 address such as 192.0.2.1 or an "
               "IPv6 address such as 2001:db8::1 without brackets or zone",
               Shorten(text, 60));
}

std::string FormatIp(const IpBytes& ip) {
  if (ip == kAnyIp) {
    return "*";
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  const bool is_v4 = std::equal(kMapped.begin(), kMapped.end(), ip.begin());
  inet_ntop(is_v4 ? AF_INET : AF_INET6, is_v4 ? ip.data() + 12 : ip.data(), text.data(),
            text.size());
  return text.data();
}

std::string EncodeBindingKey(const BindingKey& key) {
  std::string encoded;
  encoded.reserve(kKeyHeadBytes + key.host.size());
  AssignKey(encoded, key.ip, key.port, false, key.host);
  return encoded;
}

absl::StatusOr<BindingKey> DecodeBindingKey(std::string_view encoded) {
  if (encoded.size() < kKeyHeadBytes || encoded.size() > kKeyHeadBytes + kHostBytesMax) {
    return Error(absl::StatusCode::kInvalidArgument, "binding key of {} bytes; expected {} to {}",
                 encoded.size(), kKeyHeadBytes, kKeyHeadBytes + kHostBytesMax);
  }
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(encoded[i]); };
  BindingKey key;
  key.port = static_cast<std::uint16_t>((byte(0) << 8) | byte(1));
  for (std::size_t i = 0; i < key.ip.size(); ++i) {
    key.ip[i] = byte(2 + i);
  }
  key.host = encoded.substr(kKeyHeadBytes);
  return key;
}

absl::StatusOr<v1::Binding> NormalizeBinding(const v1::Binding& binding) {
  const auto ip = ParseIp(binding.ip());
  if (!ip.ok()) {
    return ip.status();
  }
  auto host = ParseBindingHost(binding.host());
  if (!host.ok()) {
    return host.status();
  }
  if (binding.port() > 65535) {
    return Error(absl::StatusCode::kInvalidArgument, "port {} is not in 1..65535", binding.port());
  }
  v1::Binding normal = binding;
  normal.set_protocol(binding.protocol() == v1::PROTOCOL_UNSPECIFIED ? v1::HTTP
                                                                     : binding.protocol());
  normal.set_ip(FormatIp(*ip));
  normal.set_port(binding.port() == 0 ? kDefaultPort : binding.port());
  normal.set_host(*std::move(host));
  return normal;
}

BindingKey MakeBindingKey(const v1::Binding& binding) {
  return {static_cast<std::uint16_t>(binding.port()), ParseIp(binding.ip()).value_or(kAnyIp),
          binding.host()};
}

std::string FormatBinding(const v1::Binding& binding) {
  const std::string_view ip = binding.ip().empty() ? std::string_view("*") : binding.ip();
  const bool is_v6 = ip.find(':') != std::string_view::npos;
  return fmt::format("{}{}{}:{}:{}", is_v6 ? "[" : "", ip, is_v6 ? "]" : "",
                     binding.port() == 0 ? kDefaultPort : binding.port(), binding.host());
}

absl::StatusOr<v1::Binding> ParseBinding(std::string_view text) {
  if (text.empty()) {
    return InvalidBinding(text, "it is empty");
  }
  const auto parts = SplitBinding(text);
  if (!parts) {
    return InvalidBinding(text, "a bracket is not closed");
  }
  v1::Binding binding;
  binding.set_ip(std::string(parts->ip));
  binding.set_host(std::string(parts->host));
  if (parts->port) {
    const auto port = ParsePort(*parts->port);
    if (!port.ok()) {
      return InvalidBinding(text, MessageOf(port.status()));
    }
    binding.set_port(*port);
  }
  auto normal = NormalizeBinding(binding);
  if (!normal.ok()) {
    return InvalidBinding(text, MessageOf(normal.status()));
  }
  return normal;
}

std::vector<BindingKey> BindingCandidates(const IpBytes& ip, std::uint16_t port,
                                          std::string_view host) {
  std::vector<BindingKey> keys;
  ForEachCandidate(ip, host, [&](const IpBytes& at, bool star, std::string_view name) {
    keys.push_back({port, at, (star ? "*." : "") + std::string(name)});
    return false;
  });
  return keys;
}

std::optional<std::int64_t> FindSite(
    const IpBytes& ip, std::uint16_t port, std::string_view host,
    const std::function<std::optional<std::int64_t>(std::string_view encoded_key)>& lookup) {
  std::string encoded;
  encoded.reserve(kKeyHeadBytes + host.size() + 2);
  std::optional<std::int64_t> site;
  ForEachCandidate(ip, host, [&](const IpBytes& at, bool star, std::string_view name) {
    AssignKey(encoded, at, port, star, name);
    site = lookup(encoded);
    return site.has_value();
  });
  return site;
}

}  // namespace croft::contract
