#include "control/gateway/terms.h"

#include <charconv>

#include "control/gateway/connect_error.h"
#include "proto/base/error.h"
#include "proto/contract/text_rules.h"

namespace croft::control::gateway {
namespace {

namespace http = boost::beast::http;

std::string_view Header(const http::fields& header, std::string_view name) {
  const auto value = header[boost::beast::string_view(name.data(), name.size())];
  return {value.data(), value.size()};
}

// A stream of the caller's is lines; one request and its stream of answers is a document, or a
// line.
bool Fits(Codec codec, const Route& route) {
  if (route.unary != nullptr) {
    return codec != Codec::kJsonLines;
  }
  return codec == Codec::kJsonLines ||
         (codec == Codec::kJson && !route.stream->descriptor->client_streaming());
}

HttpAnswer RefuseContentType(std::string_view given, const Route& route) {
  const bool lines = route.stream != nullptr;
  const std::string accepted =
      lines ? "application/jsonl, application/x-ndjson" : "application/json, application/proto";
  HttpAnswer answer = ErrorAnswer(
      Error(absl::StatusCode::kInvalidArgument, "content-type \"{}\" is not taken here; send {}",
            contract::Shorten(given, 60), accepted),
      415);
  answer.headers.emplace_back("Accept-Post", accepted);
  return answer;
}

absl::Status ReadTimeout(std::string_view text, Terms& terms) {
  if (text.empty()) {
    return absl::OkStatus();
  }
  std::int64_t milliseconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), milliseconds);
  if (error != std::errc() || end != text.data() + text.size() || text.size() > 10 ||
      milliseconds < 0) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "connect-timeout-ms \"{}\" is no number of milliseconds with at most 10 digits",
                 contract::Shorten(text, 60));
  }
  terms.timeout = std::chrono::milliseconds(milliseconds);
  return absl::OkStatus();
}

}  // namespace

HttpAnswer ErrorAnswer(const absl::Status& status, int http_status) {
  HttpAnswer answer{.status = http_status == 0 ? HttpStatus(status.code()) : http_status,
                    .content_type = "application/json",
                    .body = ErrorJson(status),
                    .headers = {}};
  if (answer.status == 401) {
    answer.headers.emplace_back("WWW-Authenticate", "Bearer");
  }
  return answer;
}

std::optional<HttpAnswer> ReadTerms(const http::fields& header, const Route& route, Terms& terms) {
  const std::string_view type = Header(header, "content-type");
  const auto codec = CodecOf(type);
  if (!codec.has_value() || !Fits(*codec, route)) {
    return RefuseContentType(type, route);
  }
  terms.codec = *codec;
  terms.content_type = *codec == Codec::kProto            ? "application/proto"
                       : route.stream == nullptr          ? "application/json"
                       : type.find("ndjson") != type.npos ? "application/x-ndjson"
                                                          : "application/jsonl";
  const std::string_view encoding = Header(header, "content-encoding");
  if (!encoding.empty() && encoding != "identity") {
    HttpAnswer answer = ErrorAnswer(Error(absl::StatusCode::kUnimplemented,
                                          "content-encoding \"{}\" is not taken; send the body as "
                                          "it is",
                                          contract::Shorten(encoding, 60)));
    answer.headers.emplace_back("Accept-Encoding", "identity");
    return answer;
  }
  const std::string_view version = Header(header, "connect-protocol-version");
  if (!version.empty() && version != "1") {
    return ErrorAnswer(Error(absl::StatusCode::kInvalidArgument,
                             "connect-protocol-version \"{}\" is not known; send 1",
                             contract::Shorten(version, 60)));
  }
  const absl::Status status = ReadTimeout(Header(header, "connect-timeout-ms"), terms);
  return status.ok() ? std::nullopt : std::optional(ErrorAnswer(status));
}

}  // namespace croft::control::gateway
