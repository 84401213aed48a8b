// A visitor with a raw socket: sends any bytes, reads responses of HTTP/1.1 with a deadline.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "proto/base/unique_fd.h"

namespace croft::node::listener::test {

struct Response {
  int status = 0;                             // 0: the connection ended or nothing came in time
  std::map<std::string, std::string> header;  // lower-case names
  std::string body;
  bool complete = false;  // the body is as long as its framing says
};

class Visitor {
 public:
  explicit Visitor(std::uint16_t port, const std::string& ip = "127.0.0.1");

  void Send(std::string_view bytes);
  // Reads one response; `head_only` for HEAD.
  Response Read(bool head_only = false);
  Response Ask(std::string_view bytes, bool head_only = false) {
    Send(bytes);
    return Read(head_only);
  }
  // The peer closed the connection, within the deadline, without sending more.
  bool SeesEnd();
  std::string ReadSome(std::size_t most);
  void ShutdownWrite();
  // Closes with a reset.
  void Reset();
  int fd() const { return socket_.get(); }

 private:
  bool Fill();
  std::optional<std::string> TakeLine();
  bool ReadHead(Response& response);
  void ReadChunks(Response& response);

  UniqueFd socket_;
  std::string buffer_;
  bool ended_ = false;
};

std::string Get(std::string_view path, std::string_view host = "site.example",
                std::string_view more = "");

// Polls until it holds or ten seconds have passed.
template <typename Predicate>
bool Eventually(Predicate predicate, std::chrono::milliseconds limit = std::chrono::seconds(10));

bool WaitALittle();

template <typename Predicate>
bool Eventually(Predicate predicate, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!predicate()) {
    if (std::chrono::steady_clock::now() > deadline || !WaitALittle()) {
      return false;
    }
  }
  return true;
}

}  // namespace croft::node::listener::test
