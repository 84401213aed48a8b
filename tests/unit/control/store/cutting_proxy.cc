#include "tests/unit/control/store/cutting_proxy.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <string_view>

#include "proto/base/check.h"

namespace croft::control::store {
namespace {

constexpr int kTickMs = 50;
constexpr std::string_view kSocketName = "/.s.PGSQL.5432";
constexpr std::string_view kCommit{"COMMIT\0", 7};  // as the simple query protocol has it

sockaddr_un Address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  Check(path.size() < sizeof address.sun_path, path);
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

const sockaddr* Generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

std::string ValueOf(const std::string& url, const std::string& key) {
  const auto at = url.find(key + "=") + key.size() + 1;
  return url[at] == '\'' ? url.substr(at + 1, url.find('\'', at + 1) - at - 1)
                         : url.substr(at, url.find(' ', at) - at);
}

bool SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// "" at the end.
std::string Receive(int fd) {
  std::array<char, 65536> buffer;
  const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), 0);
  return got <= 0 ? "" : std::string(buffer.data(), static_cast<std::size_t>(got));
}

bool PassAnswer(int server, int client) {
  const std::string bytes = Receive(server);
  return !bytes.empty() && SendAll(client, bytes);
}

}  // namespace

CuttingProxy::CuttingProxy(const std::string& url)
    : url_(url + " host=" + directory_.path()),
      server_path_(ValueOf(url, "host") + std::string(kSocketName)),
      listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const sockaddr_un address = Address(directory_.path() + std::string(kSocketName));
  Check(::bind(listener_.get(), Generic(address), sizeof address) == 0 &&
            ::listen(listener_.get(), 16) == 0,
        "the proxy's socket");
  acceptor_ = std::jthread([this](const std::stop_token& stop) { Accept(stop); });
}

CuttingProxy::~CuttingProxy() = default;

void CuttingProxy::Accept(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd waiting{listener_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, kTickMs) <= 0) {
      continue;
    }
    UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (client && !refusing_) {
      connections_.emplace_back(
          [this](const std::stop_token& own, UniqueFd fd) { Pass(own, std::move(fd)); },
          std::move(client));
    }
  }
  connections_.clear();
}

void CuttingProxy::Pass(const std::stop_token& stop, UniqueFd client) {
  const UniqueFd server(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = Address(server_path_);
  bool open = ::connect(server.get(), Generic(address), sizeof address) == 0;
  while (open && !stop.stop_requested()) {
    std::array<pollfd, 2> waiting{{{client.get(), POLLIN, 0}, {server.get(), POLLIN, 0}}};
    if (::poll(waiting.data(), waiting.size(), kTickMs) <= 0) {
      continue;
    }
    if (waiting[0].revents != 0) {
      open = PassQuery(client.get(), server.get());
    } else {
      open = PassAnswer(server.get(), client.get());
    }
  }
}

bool CuttingProxy::PassQuery(int client, int server) {
  const std::string query = Receive(client);
  if (query.empty()) {
    return false;
  }
  if (query.find(kCommit) == std::string::npos) {
    return SendAll(server, query);
  }
  const Loss loss = loss_.exchange(Loss::kNothing);
  if (loss == Loss::kCommit) {
    return false;
  }
  const bool sent = SendAll(server, query);
  // The answer comes once the commit is durable.
  return loss == Loss::kAnswer ? sent && Receive(server).empty() : sent;
}

}  // namespace croft::control::store
