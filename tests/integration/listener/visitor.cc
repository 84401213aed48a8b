#include "tests/integration/listener/visitor.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace croft::node::listener::test {
namespace {

constexpr int kDeadlineMs = 15'000;

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

}  // namespace

Visitor::Visitor(std::uint16_t port, const std::string& ip)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, ip.c_str(), &address.sin_addr);
  if (::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    socket_.reset();
  }
}

void Visitor::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size <= 0) {
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
}

bool Visitor::Fill() {
  if (ended_) {
    return false;
  }
  pollfd wait{socket_.get(), POLLIN, 0};
  if (::poll(&wait, 1, kDeadlineMs) <= 0) {
    return false;
  }
  std::vector<char> bytes(65536);
  const ssize_t size = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
  if (size <= 0) {
    ended_ = true;
    return false;
  }
  buffer_.append(bytes.data(), static_cast<std::size_t>(size));
  return true;
}

std::optional<std::string> Visitor::TakeLine() {
  for (;;) {
    const std::size_t end = buffer_.find("\r\n");
    if (end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 2);
      return line;
    }
    if (!Fill()) {
      return std::nullopt;
    }
  }
}

bool Visitor::ReadHead(Response& response) {
  auto line = TakeLine();
  if (!line || line->compare(0, 7, "HTTP/1.") != 0) {
    return false;
  }
  response.status = std::atoi(line->c_str() + 9);
  response.header.clear();
  while ((line = TakeLine()) && !line->empty()) {
    const std::size_t colon = line->find(": ");
    response.header[Lower(line->substr(0, colon))] = line->substr(colon + 2);
  }
  return line.has_value();
}

void Visitor::ReadChunks(Response& response) {
  for (;;) {
    const auto line = TakeLine();
    if (!line) {
      return;
    }
    const std::size_t size = std::strtoul(line->c_str(), nullptr, 16);
    while (buffer_.size() < size + 2 && Fill()) {
    }
    if (buffer_.size() < size + 2) {
      return;
    }
    response.body.append(buffer_, 0, size);
    buffer_.erase(0, size + 2);
    if (size == 0) {
      response.complete = true;
      return;
    }
  }
}

Response Visitor::Read(bool head_only) {
  Response response;
  do {
    if (!ReadHead(response)) {
      return Response();
    }
  } while (response.status == 100);
  if (head_only || response.status == 204 || response.status == 304) {
    response.complete = true;
    return response;
  }
  if (response.header.contains("transfer-encoding")) {
    ReadChunks(response);
    return response;
  }
  const bool sized = response.header.contains("content-length");
  const std::size_t size =
      sized ? std::strtoul(response.header["content-length"].c_str(), nullptr, 10) : SIZE_MAX;
  while (buffer_.size() < size && Fill()) {
  }
  response.body = buffer_.substr(0, size);
  buffer_.erase(0, size);
  response.complete = sized ? response.body.size() == size : ended_;
  return response;
}

bool Visitor::SeesEnd() {
  while (buffer_.empty() && Fill()) {
  }
  return buffer_.empty() && ended_;
}

std::string Visitor::ReadSome(std::size_t most) {
  if (buffer_.empty()) {
    Fill();
  }
  std::string taken = buffer_.substr(0, most);
  buffer_.erase(0, most);
  return taken;
}

void Visitor::ShutdownWrite() { ::shutdown(socket_.get(), SHUT_WR); }

void Visitor::Reset() {
  const linger now{1, 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  socket_.reset();
}

std::string Get(std::string_view path, std::string_view host, std::string_view more) {
  return std::string("GET ")
      .append(path)
      .append(" HTTP/1.1\r\nHost: ")
      .append(host)
      .append("\r\n")
      .append(more)
      .append("\r\n");
}

bool WaitALittle() { return ::poll(nullptr, 0, 10) == 0; }

}  // namespace croft::node::listener::test
