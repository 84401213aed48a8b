#include "node/launcher/endpoints.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "node/launcher/port_holder.h"
#include "node/link/channel.h"
#include "proto/base/error.h"

namespace croft::node::launcher {
namespace {

using absl::StatusCode;

constexpr int kBacklog = 65535;  // the kernel takes net.core.somaxconn if that is less
constexpr std::size_t kEndpointsMax = 4096;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// REQUIRES: a parsed address.
SocketAddress ToSocketAddress(const EndpointAddress& address) {
  SocketAddress result;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET, address.ip.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port);
    result.size = sizeof(v4);
    std::memcpy(&result.storage, &v4, sizeof(v4));
  } else {
    ::inet_pton(AF_INET6, address.ip.c_str(), &v6.sin6_addr);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(address.port);
    result.size = sizeof(v6);
    std::memcpy(&result.storage, &v6, sizeof(v6));
  }
  return result;
}

bool SetOption(int fd, int level, int name) {
  const int on = 1;
  return ::setsockopt(fd, level, name, &on, sizeof(on)) == 0;
}

// -1 and errno on failure.
UniqueFd Bind(const EndpointAddress& address, bool shared) {
  const SocketAddress to = ToSocketAddress(address);
  const int family = to.get()->sa_family;
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd || !SetOption(fd.get(), SOL_SOCKET, SO_REUSEADDR) ||
      (shared && !SetOption(fd.get(), SOL_SOCKET, SO_REUSEPORT)) ||
      (family == AF_INET6 && !SetOption(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY)) ||
      ::bind(fd.get(), to.get(), to.size) != 0) {
    const int number = errno;
    fd.reset();
    errno = number;
  }
  return fd;
}

absl::Status BindFailed(const EndpointAddress& address) {
  switch (errno) {
    case EADDRINUSE: {
      const std::string holder = FindPortHolder(address.port);
      return Error(StatusCode::kAlreadyExists,
                   "{} port {} is in use by {}; stop that, or choose "
                   "another port or address",
                   address.ip, address.port, holder.empty() ? "another program" : holder);
    }
    case EACCES:
      return Error(StatusCode::kPermissionDenied,
                   "{} port {}: ports below net.ipv4.ip_unprivileged_port_start need root or "
                   "CAP_NET_BIND_SERVICE",
                   address.ip, address.port);
    case EADDRNOTAVAIL:
      return Error(StatusCode::kFailedPrecondition,
                   "{} port {}: this machine does not have that address", address.ip, address.port);
    default:
      return ErrnoError("bind {} port {}", address.ip, address.port);
  }
}

}  // namespace

absl::StatusOr<EndpointAddress> ParseEndpoint(const std::string& ip, std::uint32_t port) {
  in6_addr binary{};
  char text[INET6_ADDRSTRLEN] = "";
  const bool literal = ip.find('\0') == std::string::npos &&
                       ((::inet_pton(AF_INET, ip.c_str(), &binary) == 1 &&
                         ::inet_ntop(AF_INET, &binary, text, sizeof(text)) != nullptr) ||
                        (::inet_pton(AF_INET6, ip.c_str(), &binary) == 1 &&
                         ::inet_ntop(AF_INET6, &binary, text, sizeof(text)) != nullptr));
  if (!literal) {
    return Error(StatusCode::kInvalidArgument, "'{}' is no IPv4 or IPv6 address", ip.substr(0, 64));
  }
  if (port == 0 || port > 65535) {
    return Error(StatusCode::kInvalidArgument, "port {} is outside of 1-65535", port);
  }
  return EndpointAddress{text, static_cast<std::uint16_t>(port)};
}

bool Endpoints::HasPort(std::uint16_t port) const {
  return std::any_of(open_.begin(), open_.end(),
                     [port](const auto& entry) { return entry.first.port == port; });
}

absl::StatusOr<const Endpoints::Sockets*> Endpoints::Open(const EndpointAddress& address,
                                                          std::uint32_t count) {
  if (const auto found = open_.find(address); found != open_.end()) {
    return &found->second;
  }
  if (count == 0 || count > link::kDescriptorsMax || open_.size() >= kEndpointsMax) {
    return Error(StatusCode::kInvalidArgument,
                 "{} port {}: {} sockets asked for, 1 to {} can be had, for at most {} addresses",
                 address.ip, address.port, count, link::kDescriptorsMax, kEndpointsMax);
  }
  // A shared bind succeeds beside another program's shared socket, and the kernel would split the
  // visitors; a plain one tells. Beside our own sockets on the same port (any address beside one
  // address) it would fail without need.
  if (!HasPort(address.port) && !Bind(address, false)) {
    return BindFailed(address);
  }
  Sockets sockets;
  for (std::uint32_t i = 0; i < count; ++i) {
    UniqueFd socket = Bind(address, true);
    if (!socket || ::listen(socket.get(), kBacklog) != 0) {
      return BindFailed(address);
    }
    sockets.push_back(std::move(socket));
  }
  return &open_.emplace(address, std::move(sockets)).first->second;
}

}  // namespace croft::node::launcher
