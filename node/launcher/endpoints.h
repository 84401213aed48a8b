// The listening TCP sockets of the node, bound once and kept until no binding names their address,
// so that listeners come and go without a refused connection. Each address has a group of sockets
// (SO_REUSEPORT), one per listener loop.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "proto/base/unique_fd.h"

namespace croft::node::launcher {

struct EndpointAddress {
  std::string ip;  // as inet_ntop writes it; "0.0.0.0" and "::" are any
  std::uint16_t port = 0;
  friend auto operator<=>(const EndpointAddress&, const EndpointAddress&) = default;
};

// invalid_argument unless ip is a literal address and port is 1..65535.
absl::StatusOr<EndpointAddress> ParseEndpoint(const std::string& ip, std::uint32_t port);

class Endpoints {
 public:
  using Sockets = std::vector<UniqueFd>;

  // Binds `count` sockets and listens, or finds those that are already open, however many.
  // already_exists names who has the address, where that can be told.
  absl::StatusOr<const Sockets*> Open(const EndpointAddress& address, std::uint32_t count);
  void Close(const EndpointAddress& address) { open_.erase(address); }
  const std::map<EndpointAddress, Sockets>& open() const { return open_; }

 private:
  bool HasPort(std::uint16_t port) const;

  std::map<EndpointAddress, Sockets> open_;
};

}  // namespace croft::node::launcher
