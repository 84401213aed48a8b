#include "node/listener/acceptor.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "node/listener/loop.h"

namespace croft::node::listener {
namespace {

constexpr int kAcceptsPerEvent = 64;
constexpr std::chrono::milliseconds kPauseWithoutDescriptors{100};

struct SocketAddress {
  std::string ip;
  contract::IpBytes bytes{};
  std::uint16_t port = 0;
};

// An IPv4-mapped IPv6 address is shown as IPv4.
SocketAddress Read(const sockaddr_storage& storage) {
  SocketAddress address;
  std::array<char, INET6_ADDRSTRLEN> text{};
  address.bytes[10] = address.bytes[11] = 0xff;
  if (storage.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(storage);
    std::memcpy(address.bytes.data() + 12, &v4.sin_addr, 4);
    inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    address.port = ntohs(v4.sin_port);
  } else if (storage.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage);
    std::memcpy(address.bytes.data(), &v6.sin6_addr, 16);
    if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
      inet_ntop(AF_INET, address.bytes.data() + 12, text.data(), text.size());
    } else {
      inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    }
    address.port = ntohs(v6.sin6_port);
  }
  address.ip = text.data();
  return address;
}

bool OutOfResources(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

Acceptor::State::State(Loop& owner, LocalAddress address)
    : loop(owner),
      local(std::move(address)),
      socket(owner.core().io().get_executor()),
      pause(owner.core().io()) {}

Acceptor::Acceptor(Loop& loop, UniqueFd fd, LocalAddress local)
    : state_(std::make_shared<State>(loop, std::move(local))) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound), &size);
  const SocketAddress address = Read(bound);
  state_->any_address = address.ip == "0.0.0.0" || address.ip == "::";
  // Accepted sockets inherit it.
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  boost::system::error_code error;
  state_->socket.assign(bound.ss_family == AF_INET6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(),
                        fd.get(), error);
  if (!error) {
    fd.release();
    state_->socket.native_non_blocking(true, error);
    Wait(state_);
  }
}

Acceptor::~Acceptor() {
  boost::system::error_code ignored;
  state_->socket.close(ignored);
  state_->pause.cancel();
}

void Acceptor::Wait(const std::shared_ptr<State>& state) {
  state->socket.async_wait(
      asio::socket_base::wait_read, [state](const boost::system::error_code& error) {
        if (error) {
          return;
        }
        LoopCore& core = state->loop.core();
        if (AcceptSome(*state)) {
          Wait(state);
        } else {
          state->pause.expires_after(kPauseWithoutDescriptors);
          state->pause.async_wait([state](const boost::system::error_code& cancelled) {
            if (!cancelled) {
              Wait(state);
            }
          });
        }
        core.Settle();
      });
}

bool Acceptor::AcceptSome(State& state) {
  for (int i = 0; i < kAcceptsPerEvent && state.socket.is_open(); ++i) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    UniqueFd fd(::accept4(state.socket.native_handle(), reinterpret_cast<sockaddr*>(&peer), &size,
                          SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) {
      if (errno == EINTR || errno == ECONNABORTED) {
        continue;
      }
      return !OutOfResources(errno);
    }
    LocalAddress local = state.local;
    if (state.any_address) {
      sockaddr_storage mine{};
      size = sizeof mine;
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&mine), &size);
      const SocketAddress address = Read(mine);
      local.ip = address.ip;
      local.ip_bytes = address.bytes;
    }
    VisitorSocket::Socket socket(state.loop.core().io().get_executor());
    boost::system::error_code error;
    socket.assign(peer.ss_family == AF_INET6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), fd.get(),
                  error);
    if (error) {
      continue;
    }
    fd.release();
    socket.native_non_blocking(true, error);
    const SocketAddress client = Read(peer);
    // From here on it owns itself.
    boost::intrusive_ptr<Connection> connection(
        std::make_unique<Connection>(state.loop, std::move(socket), std::move(local), client.ip,
                                     client.port)
            .release());
    connection->Start();
  }
  return true;
}

}  // namespace croft::node::listener
