#include "control/gateway/session.h"

#include <boost/beast/http/error.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "control/gateway/stream_exchange.h"
#include "control/gateway/unary_exchange.h"
#include "proto/base/error.h"

namespace croft::control::gateway {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

// nullopt: the client left, or is no speaker of HTTP/1.1 within our limits' time.
std::optional<HttpAnswer> RefuseHeader(const boost::system::error_code& error) {
  if (error == http::error::header_limit) {
    return ErrorAnswer(Error(absl::StatusCode::kResourceExhausted,
                             "a request's header has at most {} bytes", kHeaderBytesMax),
                       431);
  }
  const bool ours = error.category() == http::make_error_code(http::error::bad_method).category();
  if (!ours || error == http::error::end_of_stream || error == http::error::partial_message) {
    return std::nullopt;
  }
  return ErrorAnswer(
      Error(absl::StatusCode::kInvalidArgument, "this is no HTTP/1.1 request: {}", error.message()),
      400);
}

// nullopt: a stream, which has answered for itself.
asio::awaitable<std::optional<HttpAnswer>> Answer(std::shared_ptr<Connection> connection,
                                                  const Environment& environment,
                                                  const Route& route, BodyReader& body) {
  if (!route.refusal.ok()) {
    HttpAnswer answer = ErrorAnswer(route.refusal, route.refusal_status);
    if (!route.allow.empty()) {
      answer.headers.emplace_back("Allow", route.allow);
    }
    co_return answer;
  }
  if (route.page != nullptr) {
    api::Credentials credentials;
    credentials.authorization = View(body.request()[http::field::authorization]);
    HttpAnswer answer =
        co_await MakePage(environment, *connection, *route.page, std::move(credentials));
    co_return answer;
  }
  Exchange exchange{
      .environment = environment, .connection = connection, .terms = {}, .credentials = {}};
  if (auto refusal = ReadTerms(body.request(), route, exchange.terms); refusal.has_value()) {
    co_return *std::move(refusal);
  }
  exchange.credentials.authorization = View(body.request()[http::field::authorization]);
  if (route.unary != nullptr) {
    HttpAnswer answer = co_await CallUnary(exchange, *route.unary, body);
    co_return answer;
  }
  if (body.request().version() < 11) {
    co_return ErrorAnswer(Error(absl::StatusCode::kInvalidArgument, "streams need HTTP/1.1"), 505);
  }
  co_await CallStream(std::move(exchange), *route.stream, body);
  co_return std::nullopt;
}

// False when the connection has ended.
asio::awaitable<bool> ServeOne(const std::shared_ptr<Connection>& connection,
                               const Environment& environment) {
  HeaderParser header;
  const auto error = co_await connection->ReadHeader(header);
  if (error) {
    auto refusal = RefuseHeader(error);
    if (refusal.has_value()) {
      co_await connection->Write(*std::move(refusal), false);
      co_await connection->Linger();
    }
    co_return false;
  }
  const Route route =
      environment.routes.Find(View(header.get().method_string()), View(header.get().target()));
  BodyReader body(*connection, std::move(header));
  auto answer = co_await Answer(connection, environment, route, body);
  if (!answer.has_value()) {
    co_return false;
  }
  const bool keep_alive = body.is_done() && body.request().keep_alive();
  const bool written = co_await connection->Write(*std::move(answer), keep_alive);
  if (!written) {
    co_return false;
  }
  if (!body.is_done()) {
    co_await connection->Linger();
  }
  co_return keep_alive;
}

}  // namespace

asio::awaitable<void> Serve(std::shared_ptr<Connection> connection,
                            const Environment& environment) {
  bool goes_on = co_await connection->Handshake();
  while (goes_on) {
    goes_on = co_await ServeOne(connection, environment);
  }
  co_await connection->ShutDown();
}

}  // namespace croft::control::gateway
