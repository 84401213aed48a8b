#include "control/gateway/connect_error.h"

#include <absl/strings/escaping.h>
#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/wrappers.pb.h>

#include "proto/contract/errors.h"

namespace croft::control::gateway {
namespace {

struct CodeFacts {
  std::string_view name;
  int http_status;
};

CodeFacts FactsOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return {"ok", 200};
    case absl::StatusCode::kCancelled:
      return {"canceled", 499};
    case absl::StatusCode::kInvalidArgument:
      return {"invalid_argument", 400};
    case absl::StatusCode::kDeadlineExceeded:
      return {"deadline_exceeded", 504};
    case absl::StatusCode::kNotFound:
      return {"not_found", 404};
    case absl::StatusCode::kAlreadyExists:
      return {"already_exists", 409};
    case absl::StatusCode::kPermissionDenied:
      return {"permission_denied", 403};
    case absl::StatusCode::kResourceExhausted:
      return {"resource_exhausted", 429};
    case absl::StatusCode::kFailedPrecondition:
      return {"failed_precondition", 400};
    case absl::StatusCode::kAborted:
      return {"aborted", 409};
    case absl::StatusCode::kOutOfRange:
      return {"out_of_range", 400};
    case absl::StatusCode::kUnimplemented:
      return {"unimplemented", 501};
    case absl::StatusCode::kInternal:
      return {"internal", 500};
    case absl::StatusCode::kUnavailable:
      return {"unavailable", 503};
    case absl::StatusCode::kDataLoss:
      return {"data_loss", 500};
    case absl::StatusCode::kUnauthenticated:
      return {"unauthenticated", 401};
    default:
      return {"unknown", 500};
  }
}

std::string Print(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  std::string text;
  // Fails only for a google.protobuf.Any of an unknown type, which none of our messages has.
  static_cast<void>(google::protobuf::util::MessageToJsonString(message, &text, options));
  return text;
}

std::string Quote(std::string_view text) {
  google::protobuf::StringValue value;
  value.set_value(std::string(text));
  return Print(value);
}

}  // namespace

std::string_view CodeName(absl::StatusCode code) { return FactsOf(code).name; }

int HttpStatus(absl::StatusCode code) { return FactsOf(code).http_status; }

std::string ErrorJson(const absl::Status& status) {
  std::string json = fmt::format(R"({{"code":"{}","message":{})", CodeName(status.code()),
                                 Quote(contract::MessageOf(status)));
  const v1::ErrorDetail detail = contract::CompleteDetail(status);
  // Connect's base64 has no padding.
  std::string value = absl::Base64Escape(detail.SerializeAsString());
  value.erase(value.find_last_not_of('=') + 1);
  return json + fmt::format(R"(,"details":[{{"type":"{}","value":"{}","debug":{}}}]}})",
                            detail.GetTypeName(), value, Print(detail));
}

}  // namespace croft::control::gateway
