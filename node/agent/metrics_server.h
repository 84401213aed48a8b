// Answers GET /metrics over plain HTTP, for Prometheus: a few connections at a time, one request on
// each, each with a deadline. Supervision loop only; the page is made there, between other work.
#pragma once

#include <absl/status/statusor.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <string>

namespace croft::node::agent {

class MetricsServer : public std::enable_shared_from_this<MetricsServer> {
  struct Key {};

 public:
  using MakePage = std::function<std::string()>;
  static constexpr int kConnectionsMax = 8;
  static constexpr std::size_t kHeaderBytesMax = 8 * 1024;

  // `listen`: HOST:PORT, an address of this machine. Serves until Stop.
  static absl::StatusOr<std::shared_ptr<MetricsServer>> Start(boost::asio::io_context& loop,
                                                              const std::string& listen,
                                                              MakePage make_page);
  MetricsServer(Key, boost::asio::io_context& loop, MakePage make_page)
      : acceptor_(loop), make_page_(std::move(make_page)) {}

  // No page is made afterwards.
  void Stop();
  int port() const { return acceptor_.local_endpoint().port(); }

 private:
  class Connection;
  void Accept();

  boost::asio::ip::tcp::acceptor acceptor_;
  MakePage make_page_;
  int connections_ = 0;
};

}  // namespace croft::node::agent
