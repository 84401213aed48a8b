// Operations step by step, on a fake store.
#include "control/operations/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "control/identity/tokens.h"
#include "control/operations/bulk_edit.h"
#include "control/operations/worker.h"
#include "croft/v1/operator.pb.h"
#include "proto/base/clock.h"
#include "proto/contract/grant_text.h"
#include "tests/unit/control/domain/estate.h"

namespace croft::control::operations {
namespace {

using contract::ResourceType;
using domain::Caller;
using domain::ReasonOf;
using testing::HasSubstr;

class OperationsTest : public domain::DomainTest {
 protected:
  OperationsTest() { caller_ = Login("tester", "root:ADMINISTRATOR"); }

  Caller Login(const std::string& id, const std::string& grant) {
    v1::Operator made;
    made.set_organization("organizations/" + grant.substr(0, grant.find(':')));
    *made.add_grants() = contract::ParseGrant("organizations/" + grant).value();
    Create("", id, made);
    v1::Token token;
    token.set_operator_("operators/" + id);
    const std::string hash = identity::HashToken(Create("", id, token).secret());
    const auto session = store_.FindOperatorToken(hash).value();
    return resources_.access().Identify(*session).value();
  }
  void MakeSites(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string id = "s" + std::to_string(sites_++);
      v1::Site site = ASite(id + ".example");
      (*site.mutable_labels())["batch"] = "old";
      Create("farms/main", id, site);
    }
  }

  static v1::UpdateResourcesRequest Relabel(std::int64_t expected) {
    v1::UpdateResourcesRequest request;
    request.set_type("site");
    request.set_parent("farms/main");
    request.set_filter("labels.batch = old");
    request.set_expect_count(expected);
    (*request.mutable_resource()->mutable_site()->mutable_labels())["batch"] = "new";
    request.mutable_update_mask()->add_paths("labels");
    return request;
  }
  static v1::UpdateResourcesRequest Deletion(const std::string& type, const std::string& filter) {
    v1::UpdateResourcesRequest request;
    request.set_type(type);
    request.set_parent("farms/main");
    request.set_filter(filter);
    return request;
  }
  absl::StatusOr<v1::Operation> Start(const v1::UpdateResourcesRequest& request,
                                      bool deletes = false,
                                      const domain::WriteOptions& options = {}) {
    return operations_.Start(caller_, request, deletes, options);
  }
  std::string StartName(const v1::UpdateResourcesRequest& request, bool deletes = false) {
    const auto started = Start(request, deletes);
    EXPECT_TRUE(started.ok()) << started.status();
    return started.ok() ? started->name() : "";
  }
  v1::Operation GetOperation(const std::string& name) {
    const auto found = operations_.Find(caller_, name);
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? found->shown : v1::Operation();
  }
  v1::Operation RunToEnd(const std::string& name) {
    for (int steps = 0; steps < 100; ++steps) {
      const auto step = worker_.Run();
      EXPECT_TRUE(step.ok()) << step.status();
      if (!step.ok() || *step == Step::kIdle) {
        break;
      }
    }
    return GetOperation(name);
  }
  std::size_t Count(const std::string& filter) {
    std::size_t count = 0;
    domain::ListRequest request{.parent = "farms/main", .page_size = 1000, .filter = filter};
    do {
      const auto page = resources_.List(caller_, request).value();
      count += page.resources.size();
      request.page_token = page.next_page_token;
    } while (!request.page_token.empty());
    return count;
  }

  Operations operations_{store_, resources_.access()};
  const SystemClock system_clock_;
  Worker worker_{store_, resources_.access(), system_clock_};
  int sites_ = 0;
};

TEST_F(OperationsTest, UpdatesEachSelectedResourceOnceInBatches) {
  MakeSites(kBatchItems + 3);
  const std::int64_t before = Revision();
  const std::string name = StartName(Relabel(kBatchItems + 3));
  EXPECT_EQ(GetOperation(name).state(), v1::Operation::QUEUED);
  EXPECT_EQ(GetOperation(name).total(), kBatchItems + 3);
  ASSERT_EQ(worker_.Run().value(), Step::kWorked);
  EXPECT_EQ(GetOperation(name).state(), v1::Operation::RUNNING);
  EXPECT_EQ(GetOperation(name).done(), kBatchItems);
  EXPECT_EQ(Count("labels.batch = new"), static_cast<std::size_t>(kBatchItems));
  const v1::Operation ended = RunToEnd(name);
  EXPECT_EQ(ended.state(), v1::Operation::SUCCEEDED) << ended.message();
  EXPECT_EQ(ended.done(), kBatchItems + 3);
  EXPECT_EQ(ended.failed(), 0);
  EXPECT_TRUE(ended.has_end_time());
  EXPECT_EQ(ended.kind(), "update sites");
  EXPECT_EQ(ended.who(), "tester");
  EXPECT_EQ(Count("labels.batch = old"), 0U);
  EXPECT_EQ(Revision(), before + 2) << "a change per batch";
}

TEST_F(OperationsTest, GoesOnAfterTheLastCommittedBatchWithAnotherWorker) {
  MakeSites(kBatchItems + 3);
  const std::string name = StartName(Relabel(kBatchItems + 3));
  ASSERT_EQ(worker_.Run().value(), Step::kWorked);
  Worker other(store_, resources_.access(), system_clock_);
  EXPECT_EQ(other.Run().value(), Step::kEnded);
  EXPECT_EQ(GetOperation(name).done(), kBatchItems + 3);
}

TEST_F(OperationsTest, LeavesAloneWhatWasMadeAfterItsStart) {
  MakeSites(2);
  const std::string name = StartName(Relabel(2));
  MakeSites(2);
  EXPECT_EQ(RunToEnd(name).state(), v1::Operation::SUCCEEDED);
  EXPECT_EQ(Count("labels.batch = new"), 2U);
  EXPECT_EQ(Count("labels.batch = old"), 2U);
}

TEST_F(OperationsTest, DoesNoMoreThanWasCounted) {
  MakeSites(3);
  v1::Site site = Get<v1::Site>("farms/main/sites/s1").value();
  (*site.mutable_labels())["batch"] = "other";
  ASSERT_TRUE(TryUpdate(site, {"labels"}).ok());
  const std::string name = StartName(Relabel(2));
  (*site.mutable_labels())["batch"] = "old";
  site.clear_etag();
  ASSERT_TRUE(TryUpdate(site, {"labels"}).ok());
  const v1::Operation ended = RunToEnd(name);
  EXPECT_EQ(ended.state(), v1::Operation::FAILED);
  EXPECT_EQ(ended.done(), 2);
  EXPECT_THAT(ended.message(), HasSubstr("more match"));
  EXPECT_EQ(Count("labels.batch = old"), 1U);
}

TEST_F(OperationsTest, WantsTheNumberKnownAndRight) {
  MakeSites(3);
  const auto wrong = Start(Relabel(4)).status();
  EXPECT_EQ(wrong.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReasonOf(wrong), "COUNT_MISMATCH");
  EXPECT_THAT(std::string(wrong.message()), HasSubstr("selects 3 sites, not 4"));
  EXPECT_TRUE(Start(Relabel(0)).ok()) << "not required of so few";
  MakeSites(static_cast<int>(kCountRequiredAbove));
  const auto missing = Start(Relabel(0)).status();
  EXPECT_EQ(ReasonOf(missing), "COUNT_REQUIRED");
  EXPECT_THAT(std::string(missing.message()), HasSubstr("103"));
}

TEST_F(OperationsTest, AnItemThatFailsFailsAlone) {
  Create("farms/main", "free", v1::ApplicationPool());
  Create("farms/main", "zero", v1::ApplicationPool());
  MakeSites(1);  // uses pools/web
  const std::string name = StartName(Deletion("pool", ""), true);
  const v1::Operation ended = RunToEnd(name);
  EXPECT_EQ(ended.state(), v1::Operation::FAILED);
  EXPECT_EQ(ended.done(), 3);
  EXPECT_EQ(ended.failed(), 1);
  ASSERT_EQ(ended.errors_size(), 1);
  EXPECT_EQ(ended.errors(0).name(), "farms/main/pools/web");
  EXPECT_THAT(ended.errors(0).reason(), HasSubstr("farms/main/sites/s0"));
  EXPECT_FALSE(Get<v1::ApplicationPool>("farms/main/pools/free").ok());
  EXPECT_FALSE(Get<v1::ApplicationPool>("farms/main/pools/zero").ok());
  EXPECT_TRUE(Get<v1::ApplicationPool>("farms/main/pools/web").ok());
}

TEST_F(OperationsTest, ValidateOnlyChangesNothingAndNamesWhatWouldFail) {
  MakeSites(1);
  const std::int64_t before = Revision();
  const auto checked = Start(Deletion("pool", ""), true, {.validate_only = true});
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(checked->name(), "");
  EXPECT_EQ(checked->total(), 1);
  EXPECT_EQ(checked->done(), 0);
  EXPECT_EQ(checked->failed(), 1);
  EXPECT_EQ(checked->state(), v1::Operation::QUEUED);
  EXPECT_EQ(worker_.Run().value(), Step::kIdle);
  EXPECT_EQ(Revision(), before);
}

TEST_F(OperationsTest, ARepeatedRequestIsTheSameOperation) {
  MakeSites(1);
  const domain::WriteOptions options{.request_id = "r1", .request_fingerprint = "f1"};
  const auto first = Start(Relabel(1), false, options);
  ASSERT_TRUE(first.ok()) << first.status();
  RunToEnd(first->name());
  const auto again = Start(Relabel(1), false, options);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->name(), first->name());
  EXPECT_EQ(again->state(), v1::Operation::SUCCEEDED);
  const auto other = Start(Relabel(1), false, {.request_id = "r1", .request_fingerprint = "f2"});
  EXPECT_EQ(ReasonOf(other.status()), "REQUEST_ID_REUSED");
}

TEST_F(OperationsTest, RefusesRequestsThatCanNotBeMeant) {
  v1::UpdateResourcesRequest request = Relabel(0);
  request.set_type("sites");
  EXPECT_TRUE(absl::IsInvalidArgument(Start(request).status()));
  request = Relabel(0);
  request.set_type("pool");
  EXPECT_TRUE(absl::IsInvalidArgument(Start(request).status())) << "a site's fields";
  request = Relabel(0);
  request.set_filter("nonsense = 1");
  EXPECT_TRUE(absl::IsInvalidArgument(Start(request).status()));
  request = Relabel(0);
  request.mutable_update_mask()->set_paths(0, "labls");
  EXPECT_TRUE(absl::IsInvalidArgument(Start(request).status()));
  request = Relabel(0);
  request.set_parent("farms/none");
  EXPECT_TRUE(absl::IsNotFound(Start(request).status()));
  request = Relabel(-1);
  EXPECT_TRUE(absl::IsInvalidArgument(Start(request).status()));
}

TEST_F(OperationsTest, CancelEndsItAfterTheBatchUnderWay) {
  MakeSites(kBatchItems + 3);
  const std::string name = StartName(Relabel(kBatchItems + 3));
  ASSERT_EQ(worker_.Run().value(), Step::kWorked);
  const auto cancelled = operations_.Cancel(caller_, name, {.reason = "wrong ones"});
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_TRUE(cancelled->cancel_asked());
  const v1::Operation ended = RunToEnd(name);
  EXPECT_EQ(ended.state(), v1::Operation::CANCELLED);
  EXPECT_EQ(ended.message(), "cancelled by tester: wrong ones");
  EXPECT_EQ(ended.done(), kBatchItems);
  EXPECT_EQ(Count("labels.batch = old"), 3U);
  EXPECT_EQ(operations_.Cancel(caller_, name, {})->state(), v1::Operation::CANCELLED);
}

TEST_F(OperationsTest, FailsWhenItsTokenOrOperatorMayNoMore) {
  MakeSites(4);
  const Caller admin = caller_;
  const auto run = [&](const std::string& id, const std::function<void()>& before) {
    caller_ = Login(id, "root:ADMINISTRATOR");
    const std::string name = StartName(Relabel(4));
    caller_ = admin;
    before();
    const v1::Operation ended = RunToEnd(name);
    EXPECT_EQ(ended.state(), v1::Operation::FAILED);
    EXPECT_EQ(ended.done(), 0);
    return ended.message();
  };
  EXPECT_THAT(
      run("revoked", [&] { ASSERT_TRUE(Delete(ResourceType::kToken, "tokens/revoked").ok()); }),
      HasSubstr("was revoked"));
  EXPECT_THAT(run("disabled",
                  [&] {
                    v1::Operator off;
                    off.set_name("operators/disabled");
                    off.set_disabled(true);
                    ASSERT_TRUE(TryUpdate(off, {"disabled"}).ok());
                  }),
              HasSubstr("operators/disabled is disabled"));
  EXPECT_THAT(
      run("gone", [&] { ASSERT_TRUE(Delete(ResourceType::kOperator, "operators/gone").ok()); }),
      HasSubstr("revoked"));
}

TEST_F(OperationsTest, WorksWithTheGrantsOfEachMoment) {
  v1::Organization acme;
  acme.set_organization("organizations/root");
  Create("", "acme", acme);
  MakeSites(3);
  const Caller admin = caller_;
  caller_ = Login("viewer", "root:VIEWER");
  const std::string name = StartName(Relabel(3));
  const v1::Operation ended = RunToEnd(name);
  EXPECT_EQ(ended.failed(), 3);
  EXPECT_THAT(ended.errors(0).reason(), HasSubstr("role OPERATOR"));
  caller_ = admin;
  caller_ = Login("stranger", "acme:ADMINISTRATOR");
  EXPECT_EQ(Start(Relabel(0), false, {.validate_only = true})->total(), 0);
}

TEST_F(OperationsTest, ExistForWhoMayReadTheirOrganization) {
  v1::Organization acme;
  acme.set_organization("organizations/root");
  Create("", "acme", acme);
  MakeSites(1);
  const Caller admin = caller_;
  const Caller stranger = Login("stranger", "acme:ADMINISTRATOR");
  const std::string of_root = StartName(Relabel(0));
  caller_ = stranger;
  EXPECT_TRUE(absl::IsNotFound(operations_.Find(stranger, of_root).status()));
  EXPECT_TRUE(absl::IsNotFound(operations_.Cancel(stranger, of_root, {}).status()));
  const std::string of_acme = StartName(Relabel(0));
  const auto names = [&](const Caller& caller) {
    std::vector<std::string> listed;
    const auto response = operations_.List(caller, {}).value();
    for (const v1::Operation& one : response.operations()) {
      listed.push_back(one.name());
    }
    return listed;
  };
  EXPECT_THAT(names(stranger), testing::ElementsAre(of_acme));
  EXPECT_THAT(names(admin), testing::ElementsAre(of_acme, of_root));
  caller_ = admin;
  const Caller viewer = Login("viewer", "root:VIEWER");
  EXPECT_TRUE(operations_.Find(viewer, of_root).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(operations_.Cancel(viewer, of_root, {}).status()));
}

TEST_F(OperationsTest, CountsOnWhatOneCallCanNot) {
  MakeSites(3);
  store::StoredOperation operation;
  operation.request = Relabel(3).SerializeAsString();
  auto edit = BulkEdit::Open(store_, resources_.access(), caller_, operation);
  ASSERT_TRUE(edit.ok()) << edit.status();
  operation.counting = true;
  ASSERT_TRUE(edit->Count(2, operation).ok());
  EXPECT_TRUE(operation.counting);
  EXPECT_EQ(operation.shown.total(), 2);
  ASSERT_TRUE(edit->Count(2, operation).ok());
  EXPECT_FALSE(operation.counting);
  EXPECT_EQ(operation.shown.total(), 3);
  EXPECT_EQ(operation.after_name, "");
}

TEST_F(OperationsTest, TriesAgainWhenTheDatabaseIsBack) {
  MakeSites(2);
  const std::string name = StartName(Relabel(2));
  store_.SetAvailable(false);
  EXPECT_TRUE(absl::IsUnavailable(worker_.Run().status()));
  store_.SetAvailable(true);
  EXPECT_EQ(RunToEnd(name).state(), v1::Operation::SUCCEEDED);
}

TEST_F(OperationsTest, AreForgottenThirtyDaysAfterTheirEnd) {
  FakeClock clock;
  store::FakeStore store(1, &clock);
  store::StoredOperation operation;
  operation.uid = 1;
  operation.shown.set_state(v1::Operation::QUEUED);
  auto transaction = store.Begin().value();
  ASSERT_TRUE(transaction->InsertOperation(operation).ok());
  ASSERT_TRUE(transaction->CommitAnswer({}).ok());
  clock.Advance(std::chrono::hours(24 * 40));
  ASSERT_TRUE(store.Compact({}).ok());
  operation = store.ClaimOperation().value().value();
  operation.shown.set_state(v1::Operation::SUCCEEDED);
  transaction = store.Begin().value();
  ASSERT_TRUE(transaction->SaveOperation(operation).ok());
  ASSERT_TRUE(transaction->CommitAnswer({}).ok());
  clock.Advance(std::chrono::hours(24 * 29));
  ASSERT_TRUE(store.Compact({}).ok());
  EXPECT_TRUE(store.FindOperation(1).value().has_value());
  clock.Advance(std::chrono::hours(24 * 2));
  ASSERT_TRUE(store.Compact({}).ok());
  EXPECT_FALSE(store.FindOperation(1).value().has_value());
}

}  // namespace
}  // namespace croft::control::operations
