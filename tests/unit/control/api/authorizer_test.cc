#include "control/api/authorizer.h"

#include <gtest/gtest.h>

#include "control/domain/resources.h"
#include "control/identity/certificates.h"
#include "control/identity/tokens.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/node.pb.h"
#include "croft/v1/operator.pb.h"
#include "tests/unit/control/store/fake_store.h"

namespace croft::control::api {
namespace {

class AuthorizerTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(resources_.CreateFirstResources().ok());
    ASSERT_TRUE(resources_.Create(root_, "", "main", v1::Farm(), {}).ok());
    ASSERT_TRUE(resources_.Create(root_, "", "ann", v1::Operator(), {}).ok());
    v1::Token token;
    token.set_operator_("operators/ann");
    token.set_lifetime(60'000);
    ASSERT_TRUE(resources_
                    .CreateToken(root_, "good", token,
                                 {.secret = "good", .hash = identity::HashToken("good")}, {})
                    .ok());
  }

  std::int64_t CreateNode() {
    const auto made = resources_.Create(root_, "farms/main", "web1", v1::Node(), {});
    EXPECT_TRUE(made.ok()) << made.status();
    return static_cast<const v1::Node&>(*made->answer).uid();
  }
  static Credentials CertificateOf(const std::string& name, std::int64_t uid) {
    return {.authorization = {},
            .has_certificate = true,
            .uris = {identity::NodeUri(name), identity::NodeUidUri(uid)}};
  }
  static Credentials Token(const std::string& header) {
    return {.authorization = header, .has_certificate = false, .uris = {}};
  }

  absl::StatusCode Answer() {
    return authorizer_.GetOperator(Token("Bearer good")).status().code();
  }

  const domain::Caller root_ = domain::SystemCaller("test");
  FakeClock clock_;
  store::FakeStore store_{1, &clock_};
  domain::Resources resources_{store_};
  Authorizer authorizer_{store_, resources_.access(), clock_};
};

TEST_F(AuthorizerTest, OnlyAKnownBearerTokenIsAnOperator) {
  EXPECT_EQ(authorizer_.GetOperator(Token("Bearer good"))->who, "ann");
  for (const char* header : {"", "good", "Bearer ", "Bearer bad", "bearer good", "Basic good"}) {
    EXPECT_EQ(authorizer_.GetOperator(Token(header)).status().code(),
              absl::StatusCode::kUnauthenticated)
        << header;
  }
}

TEST_F(AuthorizerTest, KnownTokenIsRememberedOverAShortOutageOfTheStore) {
  ASSERT_TRUE(authorizer_.GetOperator(Token("Bearer good")).ok());
  store_.SetAvailable(false);
  EXPECT_TRUE(authorizer_.GetOperator(Token("Bearer good")).ok());
  clock_.Advance(std::chrono::milliseconds(500));
  EXPECT_EQ(authorizer_.GetOperator(Token("Bearer good")).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(AuthorizerTest, TokenIsRefusedOnceItsTimeIsOverWithoutAskingAgain) {
  EXPECT_EQ(Answer(), absl::StatusCode::kOk);
  clock_.Advance(std::chrono::milliseconds(59'800));
  EXPECT_EQ(Answer(), absl::StatusCode::kOk);
  clock_.Advance(std::chrono::milliseconds(200));
  EXPECT_EQ(Answer(), absl::StatusCode::kUnauthenticated);
}

TEST_F(AuthorizerTest, RevokedTokenAndDisabledOperatorAreNoticedWithinHalfASecond) {
  EXPECT_EQ(Answer(), absl::StatusCode::kOk);
  v1::Operator ann;
  ann.set_name("operators/ann");
  ann.set_disabled(true);
  google::protobuf::FieldMask mask;
  mask.add_paths("disabled");
  ASSERT_TRUE(resources_.Update(root_, ann, mask, {}).ok());
  clock_.Advance(std::chrono::milliseconds(500));
  EXPECT_EQ(Answer(), absl::StatusCode::kUnauthenticated);
  ann.set_disabled(false);
  ASSERT_TRUE(resources_.Update(root_, ann, mask, {}).ok());
  EXPECT_EQ(Answer(), absl::StatusCode::kOk);
  ASSERT_TRUE(resources_.Delete(root_, store::ResourceType::kToken, "tokens/good", "", {}).ok());
  clock_.Advance(std::chrono::milliseconds(500));
  EXPECT_EQ(Answer(), absl::StatusCode::kUnauthenticated);
}

TEST_F(AuthorizerTest, NodesCertificateIsNoOperatorEvenWithAToken) {
  Credentials both = CertificateOf("farms/main/nodes/web1", CreateNode());
  both.authorization = "Bearer good";
  EXPECT_EQ(authorizer_.GetOperator(both).status().code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(AuthorizerTest, CertificateIsANodesAsLongAsThatVeryNodeExists) {
  const std::int64_t uid = CreateNode();
  const auto node = authorizer_.GetNode(CertificateOf("farms/main/nodes/web1", uid));
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_EQ(node->node_uid, uid);
  EXPECT_EQ(node->node, "farms/main/nodes/web1");
  EXPECT_NE(node->farm_uid, 0);
  EXPECT_EQ(authorizer_.GetNode(Token("Bearer good")).status().code(),
            absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(authorizer_.GetNode(CertificateOf("farms/main/nodes/web2", uid)).status().code(),
            absl::StatusCode::kPermissionDenied);
  ASSERT_TRUE(
      resources_.Delete(root_, store::ResourceType::kNode, "farms/main/nodes/web1", "", {}).ok());
  EXPECT_EQ(authorizer_.GetNode(CertificateOf("farms/main/nodes/web1", uid)).status().code(),
            absl::StatusCode::kPermissionDenied);
  EXPECT_NE(CreateNode(), uid);
  EXPECT_EQ(authorizer_.GetNode(CertificateOf("farms/main/nodes/web1", uid)).status().code(),
            absl::StatusCode::kPermissionDenied);
}

}  // namespace
}  // namespace croft::control::api
