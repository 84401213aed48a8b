// Imports on a real control with PostgreSQL.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "croft/v1/account.grpc.pb.h"
#include "croft/v1/change.pb.h"
#include "croft/v1/operator.grpc.pb.h"
#include "croft/v1/resource.grpc.pb.h"
#include "tests/integration/control/running_control.h"

namespace croft::tests {
namespace {

using grpc::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;

class ControlImport : public testing::Test {
 protected:
  // Counts and errors of a whole import.
  struct Result {
    v1::Counts counts;
    std::vector<v1::ImportRowError> errors;
    std::int64_t revision = 0;
    grpc::Status status;
  };

  void SetUp() override {
    id_ = NewFarmId();
    farm_ = "farms/" + id_;
    Add("farm { name: '" + farm_ + "' }");
    Add("store { name: '" + farm_ +
        "/stores/files' path: '/srv' homes { fan_out: 75 fan_out: 50 homes_per_leaf: 100 } }");
    const Result result = Import({batch_});
    ASSERT_TRUE(result.status.ok()) << result.status.error_message();
    ASSERT_EQ(result.counts.created(), 2);
    batch_.Clear();
  }

  v1::ImportRow& Add(const std::string& text) {
    v1::ImportRow& row = *batch_.add_rows();
    row.set_line(batch_.rows_size());
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, row.mutable_resource()))
        << text;
    return row;
  }
  Result Import(const std::vector<v1::ImportResourcesRequest>& batches) {
    const auto stub = v1::ResourceService::NewStub(client_.channel());
    grpc::ClientContext context;
    client_.Authorize(context);
    const auto stream = stub->ImportResources(&context);
    Result result;
    for (const v1::ImportResourcesRequest& batch : batches) {
      if (!stream->Write(batch)) {
        break;
      }
    }
    stream->WritesDone();
    v1::ImportResourcesResponse response;
    while (stream->Read(&response)) {
      result.counts.set_created(result.counts.created() + response.counts().created());
      result.counts.set_updated(result.counts.updated() + response.counts().updated());
      result.counts.set_unchanged(result.counts.unchanged() + response.counts().unchanged());
      result.counts.set_failed(result.counts.failed() + response.counts().failed());
      result.errors.insert(result.errors.end(), response.errors().begin(), response.errors().end());
      result.revision = std::max(result.revision, response.revision());
    }
    result.status = stream->Finish();
    return result;
  }
  template <typename Response>
  Response Do(const std::string& method, const std::string& text) {
    Response response;
    const auto* descriptor =
        google::protobuf::DescriptorPool::generated_pool()->FindMethodByName("croft.v1." + method);
    std::unique_ptr<google::protobuf::Message> request(
        google::protobuf::MessageFactory::generated_factory()
            ->GetPrototype(descriptor->input_type())
            ->New());
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, request.get())) << text;
    std::string path = "croft.v1." + method;
    path[path.rfind('.')] = '/';
    const grpc::Status status = client_.Call(path, *request, response);
    EXPECT_TRUE(status.ok()) << method << ": " << status.error_message();
    return response;
  }

  RunningControl& control_ = RunningControl::Shared();
  Client client_{control_.Connect(), control_.token()};
  std::string id_;
  std::string farm_;
  v1::ImportResourcesRequest batch_;
};

TEST_F(ControlImport, TypesAreMixedAndEachRowFailsByItself) {
  Add("site { name: '" + farm_ + "/sites/a' bindings { host: 'a.example' } }");
  Add("site { name: '" + farm_ + "/sites/b' bindings { host: 'a.example' } }");
  Add("pool { name: '" + farm_ + "/pools/web' }");
  Add("account { name: '" + farm_ + "/accounts/alice' }");
  Add("pool { name: '" + farm_ + "/pools/NO' }");
  Add("site { name: '" + farm_ + "/sites/c' bindings { host: 'c.example' } }");
  const Result result = Import({batch_});
  ASSERT_TRUE(result.status.ok()) << result.status.error_message();
  EXPECT_EQ(result.counts.ShortDebugString(), "created: 4 failed: 2");
  ASSERT_EQ(result.errors.size(), 2U);
  EXPECT_EQ(result.errors[0].line(), 2);
  EXPECT_THAT(result.errors[0].reason(), HasSubstr(farm_ + "/sites/a"));
  EXPECT_EQ(result.errors[1].line(), 5);
  const auto changes = Do<v1::ListChangesResponse>("ChangeService.ListChanges", "page_size: 1");
  EXPECT_EQ(changes.changes(0).total(), 4);
  EXPECT_EQ(changes.changes(0).reason(), "import");
  const Result again = Import({batch_});
  EXPECT_EQ(again.counts.ShortDebugString(), "unchanged: 4 failed: 2");
  EXPECT_EQ(again.revision, 0);
}

TEST_F(ControlImport, TwentyFiveThousandAccountsWithSomeBadLines) {
  std::vector<v1::ImportResourcesRequest> batches;
  for (int line = 1; line <= 25'000; ++line) {
    if (line % 10'000 == 1) {
      batches.emplace_back();
    }
    v1::ImportRow& row = *batches.back().add_rows();
    row.set_line(line);
    const std::string id = line % 5000 == 0 ? "no good"
                           : line == 20'001 ? "u1"
                                            : "u" + std::to_string(line);
    row.mutable_resource()->mutable_account()->set_name(farm_ + "/accounts/" + id);
  }
  batches.front().set_reason("spring");
  const Result result = Import(batches);
  ASSERT_TRUE(result.status.ok()) << result.status.error_message();
  // u1 in the third batch is there already.
  EXPECT_EQ(result.counts.ShortDebugString(), "created: 24994 unchanged: 1 failed: 5");
  std::vector<std::int64_t> lines;
  for (const v1::ImportRowError& error : result.errors) {
    lines.push_back(error.line());
    EXPECT_EQ(error.field(), "account.name");
  }
  EXPECT_THAT(lines, ElementsAre(5000, 10'000, 15'000, 20'000, 25'000));
  const auto changes = Do<v1::ListChangesResponse>("ChangeService.ListChanges", "page_size: 3");
  EXPECT_EQ(changes.changes(0).revision(), result.revision);
  EXPECT_EQ(changes.changes(0).total(), 4998);
  EXPECT_EQ(changes.changes(2).total(), 9998);
  EXPECT_EQ(changes.changes(2).reason(), "spring");
}

TEST_F(ControlImport, ValidateOnlyChangesNothing) {
  Add("account { name: '" + farm_ + "/accounts/alice' }");
  batch_.set_validate_only(true);
  v1::ImportResourcesRequest more = batch_;
  more.set_validate_only(false);  // the first message's counts
  const Result result = Import({batch_, more});
  EXPECT_EQ(result.counts.created(), 2);
  EXPECT_EQ(result.revision, 0);
  const auto accounts =
      Do<v1::ListAccountsResponse>("AccountService.ListAccounts", "parent: '" + farm_ + "'");
  EXPECT_EQ(accounts.accounts_size(), 0);
}

TEST_F(ControlImport, AMessageOfTooManyRowsIsRefused) {
  for (int i = 0; i <= 10'000; ++i) {
    batch_.add_rows()->set_line(i);
  }
  const Result result = Import({batch_});
  EXPECT_EQ(result.status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(result.status.error_message(), HasSubstr("10000"));
}

TEST_F(ControlImport, RevokedTokenEndsItWithinASecond) {
  Do<v1::Operator>("OperatorService.CreateOperator",
                   "operator_id: 'i" + id_ +
                       "' operator { grants { organization: "
                       "'organizations/root' role: OPERATOR types: 'account' } }");
  const auto token = Do<v1::Token>("TokenService.CreateToken", "token_id: 'i" + id_ +
                                                                   "' token { operator: "
                                                                   "'operators/i" +
                                                                   id_ + "' }");
  const Client importer(control_.Connect(), token.secret());
  const auto stub = v1::ResourceService::NewStub(importer.channel());
  grpc::ClientContext context;
  importer.Authorize(context);
  const auto stream = stub->ImportResources(&context);
  Add("account { name: '" + farm_ + "/accounts/alice' }");
  Add("site { name: '" + farm_ + "/sites/a' }");
  ASSERT_TRUE(stream->Write(batch_));
  v1::ImportResourcesResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.counts().ShortDebugString(), "created: 1 failed: 1") << response.DebugString();
  Do<v1::Token>("TokenService.DeleteToken", "name: 'tokens/i" + id_ + "'");
  const auto revoked = std::chrono::steady_clock::now();
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(stream->Finish().error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_LT(std::chrono::steady_clock::now() - revoked, std::chrono::seconds(1));
}

}  // namespace
}  // namespace croft::tests
