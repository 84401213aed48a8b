#include "control/gateway/connection.h"

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ssl/stream_base.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <utility>

#include "proto/base/error.h"

namespace croft::control::gateway {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kChunkBytes = 64 * 1024;
constexpr std::chrono::seconds kLinger{2};
constexpr std::size_t kLingerBytes = 256 * 1024 * 1024;

absl::Status Broke() {
  return Error(absl::StatusCode::kCancelled, "the caller's connection broke, or it was too slow");
}

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, asio::ssl::context& tls)
    : stream_(std::move(socket), tls) {}

asio::awaitable<bool> Connection::Handshake() {
  Expire(kHandshakeTimeout);
  const auto [error] = co_await stream_.async_handshake(asio::ssl::stream_base::server, kTuple);
  co_return !error;
}

asio::awaitable<boost::system::error_code> Connection::ReadHeader(HeaderParser& header) {
  header.header_limit(kHeaderBytesMax);
  header.body_limit(boost::none);  // the body's reader counts
  Expire(kIdleTimeout);
  const auto [error, bytes] = co_await http::async_read_header(stream_, buffer_, header, kTuple);
  co_return error;
}

asio::awaitable<bool> Connection::Write(HttpAnswer answer, bool keep_alive) {
  http::response<http::string_body> response;
  response.version(11);
  response.result(static_cast<unsigned>(answer.status));
  response.set(http::field::content_type, answer.content_type);
  response.set(http::field::cache_control, "no-store");
  for (const auto& [name, value] : answer.headers) {
    response.set(name, value);
  }
  response.body() = std::move(answer.body);
  response.keep_alive(keep_alive);
  response.prepare_payload();
  Expire(kWriteTimeout);
  const auto [error, bytes] = co_await http::async_write(stream_, response, kTuple);
  co_return !error;
}

asio::awaitable<bool> Connection::WriteStreamHeader(const std::string& content_type) {
  http::response<http::empty_body> response;
  response.version(11);
  response.set(http::field::content_type, content_type);
  response.set(http::field::cache_control, "no-store");
  response.keep_alive(false);
  response.chunked(true);
  http::response_serializer<http::empty_body> serializer(response);
  Expire(kWriteTimeout);
  const auto [error, bytes] = co_await http::async_write_header(stream_, serializer, kTuple);
  co_return !error;
}

asio::awaitable<bool> Connection::WriteChunk(std::string_view text) {
  Expire(kWriteTimeout);
  const auto chunk = http::make_chunk(asio::buffer(text.data(), text.size()));
  const auto [error, bytes] = co_await asio::async_write(stream_, chunk, kTuple);
  co_return !error;
}

asio::awaitable<bool> Connection::WriteStreamEnd() {
  Expire(kWriteTimeout);
  const auto last = http::make_chunk_last();
  const auto [error, bytes] = co_await asio::async_write(stream_, last, kTuple);
  co_return !error;
}

asio::awaitable<void> Connection::AwaitLeave() {
  std::array<char, 1> byte{};
  beast::get_lowest_layer(stream_).expires_never();
  co_await stream_.async_read_some(asio::buffer(byte), kTuple);
}

asio::awaitable<void> Connection::Linger() {
  std::string sink(kChunkBytes, '\0');
  Expire(kLinger);
  for (std::size_t taken = 0; taken < kLingerBytes;) {
    const auto [error, bytes] = co_await stream_.async_read_some(asio::buffer(sink), kTuple);
    if (error) {
      break;
    }
    taken += bytes;
  }
  Close();
}

asio::awaitable<void> Connection::ShutDown() {
  Expire(kLinger);
  co_await stream_.async_shutdown(kTuple);
  Close();
}

void Connection::Close() { beast::get_lowest_layer(stream_).close(); }

BodyReader::BodyReader(Connection& connection, HeaderParser&& header)
    : connection_(connection),
      parser_(std::move(header)),
      continue_expected_(beast::iequals(parser_.get()[http::field::expect], "100-continue")),
      chunk_(kChunkBytes, '\0') {
  parser_.body_limit(boost::none);
}

asio::awaitable<absl::StatusOr<std::string>> BodyReader::ReadAll(std::size_t bytes_max) {
  const absl::Status too_large =
      Error(absl::StatusCode::kResourceExhausted, "a body has at most {} bytes", bytes_max);
  if (parser_.content_length().value_or(0) > bytes_max) {
    co_return too_large;
  }
  connection_.Expire(kBodyTimeout);
  while (!parser_.is_done()) {
    const absl::Status status = co_await Fill();
    if (!status.ok()) {
      co_return status;
    }
    if (pending_.size() > bytes_max) {
      co_return too_large;
    }
  }
  co_return std::move(pending_);
}

asio::awaitable<absl::StatusOr<std::optional<std::string>>> BodyReader::ReadLine(
    std::size_t bytes_max) {
  for (;;) {
    if (auto line = TakeLine(); line.has_value()) {
      if (line->empty()) {
        continue;
      }
      co_return line;
    }
    if (parser_.is_done()) {
      co_return std::nullopt;
    }
    if (pending_.size() - begin_ > bytes_max) {
      co_return Error(absl::StatusCode::kResourceExhausted, "a line has at most {} bytes",
                      bytes_max);
    }
    connection_.Expire(kStreamTimeout);
    const absl::Status status = co_await Fill();
    if (!status.ok()) {
      co_return status;
    }
  }
}

std::optional<std::string> BodyReader::TakeLine() {
  const std::size_t end = pending_.find('\n', searched_);
  if (end == std::string::npos && (!parser_.is_done() || begin_ == pending_.size())) {
    searched_ = pending_.size();
    return std::nullopt;
  }
  std::string line = pending_.substr(begin_, end == std::string::npos ? end : end - begin_);
  begin_ = end == std::string::npos ? pending_.size() : end + 1;
  searched_ = begin_;
  if (line.ends_with('\r')) {
    line.pop_back();
  }
  return line;
}

asio::awaitable<absl::Status> BodyReader::Fill() {
  if (std::exchange(continue_expected_, false)) {
    constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    const auto line = asio::buffer(kContinue.data(), kContinue.size());
    const auto [error, bytes] = co_await asio::async_write(connection_.stream_, line, kTuple);
    if (error) {
      co_return Broke();
    }
  }
  pending_.erase(0, begin_);
  searched_ -= begin_;
  begin_ = 0;
  auto& body = parser_.get().body();
  body.data = chunk_.data();
  body.size = chunk_.size();
  const auto [error, bytes] =
      co_await http::async_read_some(connection_.stream_, connection_.buffer_, parser_, kTuple);
  if (error && error != http::error::need_buffer) {
    co_return Broke();
  }
  pending_.append(chunk_, 0, chunk_.size() - body.size);
  co_return absl::OkStatus();
}

}  // namespace croft::control::gateway
