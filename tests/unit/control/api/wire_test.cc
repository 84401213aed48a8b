#include "control/api/wire.h"

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include "croft/v1/error.pb.h"
#include "croft/v1/site.pb.h"
#include "proto/contract/errors.h"

namespace croft::control::api {
namespace {

TEST(Wire, EveryCodeCrossesUnchanged) {
  EXPECT_TRUE(ToGrpc(absl::OkStatus()).ok());
  for (int code = 1; code <= 16; ++code) {
    const grpc::Status status = ToGrpc(absl::Status(static_cast<absl::StatusCode>(code), "why"));
    EXPECT_EQ(static_cast<int>(status.error_code()), code);
    EXPECT_EQ(status.error_message(), "why");
    v1::ErrorDetail detail;
    EXPECT_TRUE(detail.ParseFromString(status.error_details()));
    EXPECT_NE(detail.reason(), "");
  }
}

TEST(Wire, ErrorDetailTravelsInTheDetails) {
  v1::ErrorDetail detail;
  detail.set_reason("BINDING_TAKEN");
  detail.set_resource("farms/main/sites/shop");
  const grpc::Status status =
      ToGrpc(contract::WithDetail(absl::AlreadyExistsError("taken"), detail));
  v1::ErrorDetail arrived;
  ASSERT_TRUE(arrived.ParseFromString(status.error_details()));
  EXPECT_EQ(arrived.reason(), "BINDING_TAKEN");
  EXPECT_EQ(arrived.resource(), "farms/main/sites/shop");
}

TEST(Wire, MessageComesBackAsItWas) {
  v1::CreateSiteRequest sent;
  sent.set_site_id("shop");
  sent.mutable_site()->add_bindings()->set_host("shop.example");
  v1::CreateSiteRequest arrived;
  ASSERT_TRUE(ParseStrictly(Serialize(sent), arrived).ok());
  EXPECT_EQ(arrived.site().bindings(0).host(), "shop.example");
}

TEST(Wire, FieldOfALaterVersionIsRefusedWhereverItStandsAndNamed) {
  v1::CreateSiteRequest sent;
  v1::Binding& binding = *sent.mutable_site()->add_bindings();
  binding.GetReflection()->MutableUnknownFields(&binding)->AddVarint(977, 1);
  v1::CreateSiteRequest arrived;
  const absl::Status status = ParseStrictly(Serialize(sent), arrived);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(status.message()).find("croft.v1.Binding has a field number 977"),
            std::string::npos)
      << status;
  EXPECT_TRUE(Parse(Serialize(sent), arrived).ok());
}

TEST(Wire, BytesThatAreNoMessageAreRefused) {
  const grpc::Slice slice("\xff\xff\xff\xff");
  v1::CreateSiteRequest arrived;
  EXPECT_EQ(Parse(grpc::ByteBuffer(&slice, 1), arrived).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace croft::control::api
