#include "control/gateway/connect_error.h"

#include <absl/strings/escaping.h>
#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include "proto/contract/errors.h"

namespace croft::control::gateway {
namespace {

google::protobuf::Struct Parse(const std::string& json) {
  google::protobuf::Struct parsed;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &parsed).ok()) << json;
  return parsed;
}

TEST(ConnectError, EveryCodeHasConnectsNameAndHttpStatus) {
  const std::tuple<absl::StatusCode, const char*, int> cases[] = {
      {absl::StatusCode::kCancelled, "canceled", 499},
      {absl::StatusCode::kUnknown, "unknown", 500},
      {absl::StatusCode::kInvalidArgument, "invalid_argument", 400},
      {absl::StatusCode::kDeadlineExceeded, "deadline_exceeded", 504},
      {absl::StatusCode::kNotFound, "not_found", 404},
      {absl::StatusCode::kAlreadyExists, "already_exists", 409},
      {absl::StatusCode::kPermissionDenied, "permission_denied", 403},
      {absl::StatusCode::kResourceExhausted, "resource_exhausted", 429},
      {absl::StatusCode::kFailedPrecondition, "failed_precondition", 400},
      {absl::StatusCode::kAborted, "aborted", 409},
      {absl::StatusCode::kOutOfRange, "out_of_range", 400},
      {absl::StatusCode::kUnimplemented, "unimplemented", 501},
      {absl::StatusCode::kInternal, "internal", 500},
      {absl::StatusCode::kUnavailable, "unavailable", 503},
      {absl::StatusCode::kDataLoss, "data_loss", 500},
      {absl::StatusCode::kUnauthenticated, "unauthenticated", 401},
  };
  for (const auto& [code, name, http] : cases) {
    EXPECT_EQ(CodeName(code), name);
    EXPECT_EQ(HttpStatus(code), http);
  }
}

TEST(ConnectError, DetailStandsForClientsAndForPeople) {
  v1::ErrorDetail detail;
  detail.set_reason("FIELD_INVALID");
  v1::FieldViolation& violation = *detail.add_violations();
  violation.set_field("site.bindings[0].host");
  violation.set_value("\"quoted\"");
  violation.set_description("has to be a name");
  const auto error =
      Parse(ErrorJson(contract::WithDetail(absl::InvalidArgumentError("wrong \"x\"\n"), detail)))
          .fields();
  EXPECT_EQ(error.at("code").string_value(), "invalid_argument");
  EXPECT_EQ(error.at("message").string_value(), "wrong \"x\"\n");
  const auto& given = error.at("details").list_value().values(0).struct_value().fields();
  EXPECT_EQ(given.at("type").string_value(), "croft.v1.ErrorDetail");
  EXPECT_THAT(given.at("value").string_value(), testing::Not(testing::HasSubstr("=")));
  std::string bytes;
  ASSERT_TRUE(absl::Base64Unescape(given.at("value").string_value(), &bytes));
  v1::ErrorDetail decoded;
  ASSERT_TRUE(decoded.ParseFromString(bytes));
  EXPECT_EQ(decoded.SerializeAsString(), detail.SerializeAsString());
  const auto& debug = given.at("debug").struct_value().fields();
  EXPECT_EQ(debug.at("reason").string_value(), "FIELD_INVALID");
  EXPECT_FALSE(debug.at("retryable").bool_value());
  const auto& shown = debug.at("violations").list_value().values(0).struct_value().fields();
  EXPECT_EQ(shown.at("field").string_value(), "site.bindings[0].host");
  EXPECT_EQ(shown.at("value").string_value(), "\"quoted\"");
}

TEST(ConnectError, StandsOnOneLineWithAReasonForEveryError) {
  const std::string json = ErrorJson(absl::UnavailableError("a\nb"));
  EXPECT_THAT(json, testing::Not(testing::HasSubstr("\n")));
  EXPECT_THAT(json, testing::StartsWith(R"({"code":"unavailable","message":"a\nb",)"));
  EXPECT_THAT(json, testing::HasSubstr(R"("reason":"UNAVAILABLE")"));
  EXPECT_THAT(json, testing::HasSubstr(R"("retryable":true)"));
}

}  // namespace
}  // namespace croft::control::gateway
