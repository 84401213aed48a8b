#include "tests/integration/control/json_api.h"

#include <absl/status/status.h>
#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <optional>

namespace croft::tests {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

google::protobuf::Struct ParseObject(const std::string& json) {
  google::protobuf::Struct object;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &object).ok()) << json;
  return object;
}

}  // namespace

struct JsonApi::Connection {
  void Open();

  std::string address;
  asio::io_context loop;
  asio::ssl::context tls{asio::ssl::context::tls_client};
  std::optional<beast::ssl_stream<beast::tcp_stream>> stream;
  beast::flat_buffer buffer;
};

void JsonApi::Connection::Open() {
  const std::size_t colon = address.rfind(':');
  asio::ip::tcp::resolver resolver(loop);
  stream.emplace(loop, tls);
  beast::get_lowest_layer(*stream).connect(
      resolver.resolve(address.substr(0, colon), address.substr(colon + 1)));
  stream->handshake(asio::ssl::stream_base::client);
}

std::string JsonReply::code() const {
  return ok() ? "ok" : ParseObject(body).fields().at("code").string_value();
}

croft::v1::ErrorDetail JsonReply::detail() const {
  croft::v1::ErrorDetail detail;
  const google::protobuf::Struct error = ParseObject(body);
  const auto details = error.fields().find("details");
  std::string bytes;
  if (details == error.fields().end() ||
      !absl::Base64Unescape(
          details->second.list_value().values(0).struct_value().fields().at("value").string_value(),
          &bytes) ||
      !detail.ParseFromString(bytes)) {
    ADD_FAILURE() << "an error without a detail: " << body;
  }
  return detail;
}

JsonApi::JsonApi(const RunningControl& control) : connection_(std::make_unique<Connection>()) {
  std::string address = ReadFile(control.directory() + "/json-listen");
  address.erase(address.find_last_not_of('\n') + 1);
  connection_->address = address;
  connection_->tls.add_certificate_authority(asio::buffer(control.ca()));
  connection_->tls.set_verify_mode(asio::ssl::verify_peer);
}

JsonApi::~JsonApi() = default;

JsonReply JsonApi::Call(const google::protobuf::MethodDescriptor& method,
                        const google::protobuf::Message& request, const std::string& token) const {
  http::request<http::string_body> sent{
      http::verb::post, "/" + method.service()->full_name() + "/" + method.name(), 11};
  sent.set(http::field::host, connection_->address);
  sent.set(http::field::content_type, "application/json");
  if (!token.empty()) {
    sent.set(http::field::authorization, "Bearer " + token);
  }
  EXPECT_TRUE(google::protobuf::util::MessageToJsonString(request, &sent.body()).ok());
  sent.prepare_payload();
  if (!connection_->stream.has_value()) {
    connection_->Open();
  }
  http::write(*connection_->stream, sent);
  http::response<http::string_body> response;
  http::read(*connection_->stream, connection_->buffer, response);
  if (!response.keep_alive()) {
    connection_->stream.reset();
  }
  return {.http_status = static_cast<int>(response.result_int()),
          .body = response.body(),
          .counts = std::string(response["croft-counts"])};
}

void ParseJson(const std::string& json, google::protobuf::Message& message) {
  const auto status = google::protobuf::util::JsonStringToMessage(json, &message);
  EXPECT_TRUE(status.ok()) << message.GetTypeName() << ": " << status.message() << "\n" << json;
}

std::string ConnectCode(grpc::StatusCode code) {
  return absl::AsciiStrToLower(absl::StatusCodeToString(static_cast<absl::StatusCode>(code)));
}

}  // namespace croft::tests
