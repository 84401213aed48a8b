// One TLS connection of a client's: reads HTTP/1.1 requests and writes answers within time-outs and
// limits. Of one strand; the coroutines on it keep it alive.
#pragma once

#include <absl/status/statusor.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/ssl.hpp>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "control/gateway/terms.h"

namespace croft::control::gateway {

inline constexpr std::size_t kHeaderBytesMax = 16 * 1024;
inline constexpr std::chrono::seconds kHandshakeTimeout{10};
// From the last answer to the end of the next header.
inline constexpr std::chrono::seconds kIdleTimeout{60};
inline constexpr std::chrono::seconds kBodyTimeout{60};
// Between two pieces of a streamed body.
inline constexpr std::chrono::seconds kStreamTimeout{120};
inline constexpr std::chrono::seconds kWriteTimeout{30};

using HeaderParser = boost::beast::http::request_parser<boost::beast::http::empty_body>;

class Connection {
 public:
  Connection(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context& tls);

  boost::asio::any_io_executor strand() { return stream_.get_executor(); }

  boost::asio::awaitable<bool> Handshake();
  boost::asio::awaitable<boost::system::error_code> ReadHeader(HeaderParser& header);
  boost::asio::awaitable<bool> Write(HttpAnswer answer, bool keep_alive);
  // A stream's answer: its header, any number of chunks, the end.
  boost::asio::awaitable<bool> WriteStreamHeader(const std::string& content_type);
  boost::asio::awaitable<bool> WriteChunk(std::string_view text);
  boost::asio::awaitable<bool> WriteStreamEnd();
  // Returns when the client has closed, broken the connection or sent something.
  boost::asio::awaitable<void> AwaitLeave();
  // Takes what the client still sends for a short while, so that it gets to read the answer, and
  // closes.
  boost::asio::awaitable<void> Linger();
  // Says goodbye, and closes.
  boost::asio::awaitable<void> ShutDown();
  void Close();

 private:
  friend class BodyReader;
  using Stream = boost::beast::ssl_stream<boost::beast::tcp_stream>;

  void Expire(std::chrono::seconds after) {
    boost::beast::get_lowest_layer(stream_).expires_after(after);
  }

  Stream stream_;
  boost::beast::flat_buffer buffer_;
};

// The body of one request, whole or line by line.
class BodyReader {
 public:
  BodyReader(Connection& connection, HeaderParser&& header);

  // resource_exhausted above `bytes_max`; cancelled when the connection breaks.
  boost::asio::awaitable<absl::StatusOr<std::string>> ReadAll(std::size_t bytes_max);
  // Without its end; empty lines are left out; nullopt after the last.
  boost::asio::awaitable<absl::StatusOr<std::optional<std::string>>> ReadLine(
      std::size_t bytes_max);
  // Whether the client has sent all of it.
  bool is_done() const { return parser_.is_done(); }
  const boost::beast::http::request<boost::beast::http::buffer_body>& request() const {
    return parser_.get();
  }
  // A body whose length is not announced may have any.
  std::uint64_t bytes_announced() const {
    return parser_.chunked() ? UINT64_MAX : parser_.content_length().value_or(0);
  }

 private:
  boost::asio::awaitable<absl::Status> Fill();
  std::optional<std::string> TakeLine();

  Connection& connection_;
  boost::beast::http::request_parser<boost::beast::http::buffer_body> parser_;
  bool continue_expected_;
  std::string chunk_;
  std::string pending_;
  std::size_t begin_ = 0;     // of the next line in pending_
  std::size_t searched_ = 0;  // no line ends before
};

}  // namespace croft::control::gateway
