#include "node/agent/metrics_server.h"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <chrono>
#include <istream>
#include <utility>

#include "proto/base/error.h"
#include "proto/metrics/metrics_page.h"

namespace croft::node::agent {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::seconds kDeadline{10};
// Before the next try when the process is out of descriptors.
constexpr std::chrono::milliseconds kAcceptPause{200};

std::string Answer(std::string_view status, std::string_view type, std::string_view body) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      status, type, body.size(), body);
}

absl::StatusOr<tcp::endpoint> ParseListen(const std::string& listen) {
  const std::size_t colon = listen.rfind(':');
  int port = -1;
  std::string host;
  if (colon != std::string::npos) {
    host = listen.substr(0, colon);
    const char* end = listen.data() + listen.size();
    if (std::from_chars(listen.data() + colon + 1, end, port).ptr != end) {
      port = -1;
    }
  }
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  error_code error;
  const auto ip = asio::ip::make_address(host, error);
  if (error || port < 0 || port > 65535) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "--metrics-listen \"{}\" is not IP:PORT, like 127.0.0.1:9480 or [::1]:9480",
                 listen);
  }
  return tcp::endpoint(ip, static_cast<std::uint16_t>(port));
}

}  // namespace

class MetricsServer::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, std::shared_ptr<MetricsServer> server)
      : socket_(std::move(socket)), deadline_(socket_.get_executor()), server_(std::move(server)) {
    ++server_->connections_;
  }
  ~Connection() { --server_->connections_; }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Run() {
    deadline_.expires_after(kDeadline);
    deadline_.async_wait([self = weak_from_this()](const error_code& error) {
      const auto connection = self.lock();
      if (!error && connection != nullptr) {
        error_code ignored;
        connection->socket_.close(ignored);
      }
    });
    asio::async_read_until(socket_, header_, "\r\n\r\n",
                           [self = shared_from_this()](const error_code& error, std::size_t) {
                             if (!error) {
                               self->Write();
                             }
                           });
  }

 private:
  void Write() {
    std::istream header(&header_);
    std::string verb;
    std::string target;
    header >> verb >> target;
    const bool found = target.substr(0, target.find('?')) == "/metrics";
    if (!found) {
      answer_ = Answer("404 Not Found", "text/plain", "there is /metrics only\n");
    } else if (verb != "GET" || server_->make_page_ == nullptr) {
      answer_ = Answer("405 Method Not Allowed", "text/plain", "/metrics takes GET only\n");
    } else {
      answer_ = Answer("200 OK", metrics::kContentType, server_->make_page_());
    }
    asio::async_write(socket_, asio::buffer(answer_),
                      [self = shared_from_this()](const error_code&, std::size_t) {
                        error_code ignored;
                        self->socket_.shutdown(tcp::socket::shutdown_both, ignored);
                        self->deadline_.cancel();
                      });
  }

  tcp::socket socket_;
  asio::steady_timer deadline_;
  asio::streambuf header_{kHeaderBytesMax};
  std::string answer_;
  const std::shared_ptr<MetricsServer> server_;
};

absl::StatusOr<std::shared_ptr<MetricsServer>> MetricsServer::Start(asio::io_context& loop,
                                                                    const std::string& listen,
                                                                    MakePage make_page) {
  const auto endpoint = ParseListen(listen);
  if (!endpoint.ok()) {
    return endpoint.status();
  }
  const auto server = std::make_shared<MetricsServer>(Key(), loop, std::move(make_page));
  error_code error;
  tcp::acceptor& acceptor = server->acceptor_;
  acceptor.open(endpoint->protocol(), error);
  error || acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  error || acceptor.bind(*endpoint, error);
  error || acceptor.listen(kConnectionsMax, error);
  if (error) {
    return Error(absl::StatusCode::kUnavailable, "cannot give metrics at {}: {}", listen,
                 error.message());
  }
  server->Accept();
  return server;
}

void MetricsServer::Stop() {
  error_code ignored;
  acceptor_.close(ignored);
  make_page_ = nullptr;
}

void MetricsServer::Accept() {
  acceptor_.async_accept([self = shared_from_this()](const error_code& error, tcp::socket socket) {
    if (!self->acceptor_.is_open()) {
      return;
    }
    if (error) {
      const auto pause = std::make_shared<asio::steady_timer>(self->acceptor_.get_executor());
      pause->expires_after(kAcceptPause);
      pause->async_wait([self, pause](const error_code&) { self->Accept(); });
      return;
    }
    if (self->connections_ < kConnectionsMax) {
      std::make_shared<Connection>(std::move(socket), self)->Run();
    }
    self->Accept();
  });
}

}  // namespace croft::node::agent
