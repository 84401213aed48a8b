// A socket address as the launcher binds it.
#pragma once

#include <fmt/format.h>

#include <compare>
#include <cstdint>
#include <string>

namespace croft::node::agent {

struct EndpointKey {
  std::string ip;  // "0.0.0.0" or "::" for any
  std::uint16_t port = 0;

  auto operator<=>(const EndpointKey&) const = default;
};

// "0.0.0.0:80", "[::]:80".
inline std::string FormatEndpoint(const EndpointKey& key) {
  return key.ip.find(':') == std::string::npos ? fmt::format("{}:{}", key.ip, key.port)
                                               : fmt::format("[{}]:{}", key.ip, key.port);
}

}  // namespace croft::node::agent
