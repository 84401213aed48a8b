#include "control/api/authorizer.h"

#include <gtest/gtest.h>

#include "control/domain/resources.h"
#include "control/identity/certificates.h"
#include "control/identity/tokens.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/node.pb.h"
#include "tests/unit/control/store/fake_store.h"

namespace croft::control::api {
namespace {

class AuthorizerTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(resources_.CreateFirstResources().ok());
    ASSERT_TRUE(store_.InsertOperatorToken(identity::HashToken("good"), "ann").ok());
    ASSERT_TRUE(resources_.Create({"test"}, "", "main", v1::Farm(), {}).ok());
  }

  std::int64_t CreateNode() {
    const auto made = resources_.Create({"test"}, "farms/main", "web1", v1::Node(), {});
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

  FakeClock clock_;
  store::FakeStore store_;
  domain::Resources resources_{store_};
  Authorizer authorizer_{store_, clock_};
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
  clock_.Advance(std::chrono::seconds(11));
  EXPECT_EQ(authorizer_.GetOperator(Token("Bearer good")).status().code(),
            absl::StatusCode::kUnavailable);
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
      resources_.Delete({"test"}, store::ResourceType::kNode, "farms/main/nodes/web1", "", {})
          .ok());
  EXPECT_EQ(authorizer_.GetNode(CertificateOf("farms/main/nodes/web1", uid)).status().code(),
            absl::StatusCode::kPermissionDenied);
  EXPECT_NE(CreateNode(), uid);
  EXPECT_EQ(authorizer_.GetNode(CertificateOf("farms/main/nodes/web1", uid)).status().code(),
            absl::StatusCode::kPermissionDenied);
}

}  // namespace
}  // namespace croft::control::api
