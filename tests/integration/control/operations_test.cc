// Operations against a real control and a real PostgreSQL: many sites at once, errors of single
// items, cancel, wait, a control that is killed in the middle, a token that is revoked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "croft/v1/farm.pb.h"
#include "croft/v1/operation.pb.h"
#include "croft/v1/operator.pb.h"
#include "croft/v1/pool.pb.h"
#include "croft/v1/resource.pb.h"
#include "croft/v1/site.pb.h"
#include "croft/v1/store.pb.h"
#include "tests/integration/control/running_control.h"

namespace croft::tests {
namespace {

using grpc::StatusCode;
using testing::HasSubstr;

constexpr int kSites = 2500;

class OperationsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    RunningControl& control = RunningControl::Shared();
    const Client client(control.Connect(), control.token());
    v1::Farm farm;
    ASSERT_TRUE(
        Do<v1::CreateFarmRequest>(client, "FarmService/CreateFarm", "farm_id: 'main'", farm).ok());
    std::atomic<int> next{0};
    std::vector<std::thread> makers;
    for (int i = 0; i < 8; ++i) {
      makers.emplace_back([&] {
        for (int number = next++; number < kSites; number = next++) {
          v1::Site site;
          const std::string id = "s" + std::to_string(number);
          const grpc::Status made =
              Do<v1::CreateSiteRequest>(client, "SiteService/CreateSite",
                                        "parent: 'farms/main' site_id: '" + id +
                                            "' site { labels { key: 'round' value: '0' } }",
                                        site);
          EXPECT_TRUE(made.ok()) << made.error_message();
        }
      });
    }
    for (std::thread& maker : makers) {
      maker.join();
    }
  }

  template <typename Request, typename Response>
  static grpc::Status Do(const Client& client, const std::string& method, const std::string& text,
                         Response& response) {
    return client.Call<Request>("croft.v1." + method, text, response);
  }
  // From one round to another: every site's label says which round it was in last.
  static std::string Relabel(const std::string& from, const std::string& to, int expected,
                             const std::string& more = "") {
    return "type: 'site' parent: 'farms/main' filter: 'labels.round = \"" + from +
           "\"' resource { site { labels { key: 'round' value: '" + to +
           "' } } } update_mask { paths: 'labels' } expect_count: " + std::to_string(expected) +
           " " + more;
  }
  v1::Operation Start(const Client& client, const std::string& text) {
    v1::Operation operation;
    const grpc::Status status =
        Do<v1::UpdateResourcesRequest>(client, "ResourceService/UpdateResources", text, operation);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return operation;
  }
  v1::Operation Get(const std::string& name) {
    v1::Operation operation;
    const grpc::Status status = Do<v1::GetOperationRequest>(
        *client_, "OperationService/GetOperation", "name: '" + name + "'", operation);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return operation;
  }
  v1::Operation WaitFor(const std::string& name, int timeout_ms) {
    v1::Operation operation;
    const grpc::Status status = Do<v1::WaitOperationRequest>(
        *client_, "OperationService/WaitOperation",
        "name: '" + name + "' timeout_ms: " + std::to_string(timeout_ms), operation);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return operation;
  }
  // Until it has ended.
  v1::Operation Wait(const std::string& name) {
    v1::Operation operation;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    do {
      operation = WaitFor(name, 10'000);
    } while (operation.state() == v1::Operation::RUNNING &&
             std::chrono::steady_clock::now() < deadline);
    return operation;
  }
  // Until a batch is committed.
  v1::Operation AwaitProgress(const std::string& name) {
    v1::Operation operation;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    do {
      operation = Get(name);
    } while (operation.done() == 0 && operation.state() <= v1::Operation::RUNNING &&
             !name.empty() && std::chrono::steady_clock::now() < deadline);
    EXPECT_GT(operation.done(), 0);
    return operation;
  }
  int Count(const std::string& round) {
    v1::Operation operation;
    std::string text = "type: 'site' parent: 'farms/main' filter: 'labels.round = \"" + round +
                       "\"' validate_only: true expect_count: 1";
    const grpc::Status status = Do<v1::DeleteResourcesRequest>(
        *client_, "ResourceService/DeleteResources", text, operation);
    // The error names the real number.
    const std::string& message = status.error_message();
    const std::string before = "the filter selects ";
    const auto at = message.find(before);
    return status.ok()               ? 1
           : at == std::string::npos ? -1
                                     : std::stoi(message.substr(at + before.size()));
  }
  // All sites in the same round again.
  void Gather(const std::string& from) {
    if (const int left = Count(from); left > 0) {
      EXPECT_EQ(Wait(Start(*client_, Relabel(from, round_, left)).name()).state(),
                v1::Operation::SUCCEEDED);
    }
  }

  static inline std::string round_ = "0";  // that all sites are in
  RunningControl& control_ = RunningControl::Shared();
  std::unique_ptr<Client> client_ = std::make_unique<Client>(control_.Connect(), control_.token());
};

TEST_F(OperationsTest, UpdatesManySitesWithProgress) {
  v1::Operation operation;
  const grpc::Status missing = Do<v1::UpdateResourcesRequest>(
      *client_, "ResourceService/UpdateResources", Relabel("0", "a", 0), operation);
  EXPECT_EQ(missing.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(DetailOf(missing).reason(), "COUNT_REQUIRED");
  const grpc::Status wrong = Do<v1::UpdateResourcesRequest>(
      *client_, "ResourceService/UpdateResources", Relabel("0", "a", 2499), operation);
  EXPECT_EQ(wrong.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(wrong.error_message(), HasSubstr("2500 sites, not 2499"));
  const v1::Operation checked = Start(*client_, Relabel("0", "a", kSites, "validate_only: true"));
  EXPECT_EQ(checked.name(), "");
  EXPECT_EQ(checked.total(), kSites);
  EXPECT_EQ(checked.failed(), 0);
  EXPECT_EQ(Count("0"), kSites);

  const std::string text = Relabel("0", "a", kSites, "request_id: 'all' reason: 'a new round'");
  const v1::Operation started = Start(*client_, text);
  EXPECT_EQ(started.organization(), "organizations/root");
  EXPECT_EQ(Start(*client_, text).name(), started.name());
  const v1::Operation under_way = AwaitProgress(started.name());
  const v1::Operation early = WaitFor(started.name(), 1);
  EXPECT_LE(early.state(), v1::Operation::RUNNING) << "its state by the time-out";
  EXPECT_LT(under_way.done(), kSites);
  EXPECT_EQ(under_way.done() % 500, 0);
  const v1::Operation ended = Wait(started.name());
  EXPECT_EQ(ended.state(), v1::Operation::SUCCEEDED) << ended.message();
  EXPECT_EQ(ended.done(), kSites);
  EXPECT_GT(ended.revision(), under_way.revision());
  EXPECT_EQ(Count("0"), 0);
  EXPECT_EQ(Count("a"), kSites);
  round_ = "a";
}

TEST_F(OperationsTest, AnItemThatFailsFailsAlone) {
  for (const char* id : {"free", "used", "zero"}) {
    v1::ApplicationPool pool;
    ASSERT_TRUE(Do<v1::CreatePoolRequest>(*client_, "PoolService/CreatePool",
                                          "parent: 'farms/main' pool_id: '" + std::string(id) + "'",
                                          pool)
                    .ok());
  }
  v1::FileStore files;
  ASSERT_TRUE(Do<v1::CreateStoreRequest>(
                  *client_, "StoreService/CreateStore",
                  "parent: 'farms/main' store_id: 'files' store { path: '/srv/operations' }", files)
                  .ok());
  v1::Site site;
  const grpc::Status made = Do<v1::CreateSiteRequest>(
      *client_, "SiteService/CreateSite",
      "parent: 'farms/main' site_id: 'user' site { applications { path: '/' pool: "
      "'farms/main/pools/used' root { store: 'farms/main/stores/files' path: 'www' } } }",
      site);
  ASSERT_TRUE(made.ok()) << made.error_message();
  v1::Operation operation;
  const grpc::Status started = Do<v1::DeleteResourcesRequest>(
      *client_, "ResourceService/DeleteResources",
      "type: 'pool' parent: 'farms/main' expect_count: 3", operation);
  ASSERT_TRUE(started.ok()) << started.error_message();
  operation = Wait(operation.name());
  EXPECT_EQ(operation.kind(), "delete pools");
  EXPECT_EQ(operation.state(), v1::Operation::FAILED);
  EXPECT_EQ(operation.done(), 3);
  EXPECT_EQ(operation.failed(), 1);
  ASSERT_EQ(operation.errors_size(), 1);
  EXPECT_EQ(operation.errors(0).name(), "farms/main/pools/used");
  EXPECT_THAT(operation.errors(0).reason(), HasSubstr("farms/main/sites/user"));
}

TEST_F(OperationsTest, CancelKeepsWhatIsCommitted) {
  const v1::Operation started = Start(*client_, Relabel(round_, "c", kSites));
  AwaitProgress(started.name());
  v1::Operation operation;
  ASSERT_TRUE(Do<v1::CancelOperationRequest>(*client_, "OperationService/CancelOperation",
                                             "name: '" + started.name() + "' reason: 'oops'",
                                             operation)
                  .ok());
  const v1::Operation ended = Wait(started.name());
  EXPECT_EQ(ended.state(), v1::Operation::CANCELLED);
  EXPECT_THAT(ended.message(), HasSubstr("oops"));
  EXPECT_LT(ended.done(), kSites);
  EXPECT_EQ(Count("c"), ended.done());
  Gather("c");
}

TEST_F(OperationsTest, ARevokedTokenEndsIt) {
  v1::Operator made;
  v1::Token token;
  ASSERT_TRUE(Do<v1::CreateOperatorRequest>(
                  *client_, "OperatorService/CreateOperator",
                  "operator_id: 'bulk' operator { grants { organization: 'organizations/root' "
                  "role: ADMINISTRATOR } }",
                  made)
                  .ok());
  ASSERT_TRUE(Do<v1::CreateTokenRequest>(*client_, "TokenService/CreateToken",
                                         "token_id: 'bulk' token { operator: 'operators/bulk' }",
                                         token)
                  .ok());
  const Client bulk(control_.Connect(), token.secret());
  const v1::Operation started = Start(bulk, Relabel(round_, "r", kSites));
  AwaitProgress(started.name());
  v1::Token deleted;
  ASSERT_TRUE(Do<v1::DeleteTokenRequest>(*client_, "TokenService/DeleteToken",
                                         "name: 'tokens/bulk'", deleted)
                  .ok());
  const v1::Operation ended = Wait(started.name());
  EXPECT_EQ(ended.state(), v1::Operation::FAILED);
  EXPECT_THAT(ended.message(), HasSubstr("revoked"));
  EXPECT_EQ(ended.who(), "bulk");
  EXPECT_LT(ended.done(), kSites);
  EXPECT_EQ(Count("r"), ended.done());
  Gather("r");
}

TEST_F(OperationsTest, AreNotThereForStrangers) {
  const v1::Operation started = Start(*client_, Relabel("none", "x", 0));
  Wait(started.name());
  v1::Operator made;
  v1::Token token;
  ASSERT_TRUE(Do<v1::CreateOperatorRequest>(*client_, "OperatorService/CreateOperator",
                                            "operator_id: 'stranger' operator {}", made)
                  .ok());
  ASSERT_TRUE(Do<v1::CreateTokenRequest>(*client_, "TokenService/CreateToken",
                                         "token_id: 'stranger' token { operator: "
                                         "'operators/stranger' }",
                                         token)
                  .ok());
  const Client stranger(control_.Connect(), token.secret());
  v1::Operation operation;
  const std::string name = "name: '" + started.name() + "'";
  EXPECT_EQ(Do<v1::GetOperationRequest>(stranger, "OperationService/GetOperation", name, operation)
                .error_code(),
            StatusCode::NOT_FOUND);
  EXPECT_EQ(
      Do<v1::WaitOperationRequest>(stranger, "OperationService/WaitOperation", name, operation)
          .error_code(),
      StatusCode::NOT_FOUND);
  EXPECT_EQ(
      Do<v1::CancelOperationRequest>(stranger, "OperationService/CancelOperation", name, operation)
          .error_code(),
      StatusCode::NOT_FOUND);
  v1::ListOperationsResponse listed;
  ASSERT_TRUE(
      Do<v1::ListOperationsRequest>(stranger, "OperationService/ListOperations", "", listed).ok());
  EXPECT_EQ(listed.operations_size(), 0);
  ASSERT_TRUE(Do<v1::ListOperationsRequest>(*client_, "OperationService/ListOperations",
                                            "page_size: 1", listed)
                  .ok());
  ASSERT_EQ(listed.operations_size(), 1);
  EXPECT_EQ(listed.operations(0).name(), started.name()) << "the newest first";
  EXPECT_NE(listed.next_page_token(), "");
}

// Last: it starts the shared control anew.
TEST_F(OperationsTest, ZAKilledControlsWorkIsFinishedByTheNextOne) {
  const v1::Operation started = Start(*client_, Relabel(round_, "k", kSites));
  const v1::Operation before = AwaitProgress(started.name());
  EXPECT_LT(before.done(), kSites);
  control_.Kill();
  control_.Start();
  client_ = std::make_unique<Client>(control_.Connect(), control_.token());
  const v1::Operation ended = Wait(started.name());
  EXPECT_EQ(ended.state(), v1::Operation::SUCCEEDED) << ended.message();
  EXPECT_EQ(ended.done(), kSites) << "each once";
  EXPECT_EQ(ended.failed(), 0);
  EXPECT_EQ(Count("k"), kSites);
}

}  // namespace
}  // namespace croft::tests
