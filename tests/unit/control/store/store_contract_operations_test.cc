// What every Store promises of operations, and of attempts within a transaction.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/control/store/store_contract.h"
#include "tests/unit/control/store/store_fixture.h"

namespace croft::control::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class OperationsContract : public testing::TestWithParam<bool> {
 protected:
  OperationsContract() : store_(MakeStore(GetParam())), estate_(MakeEstate(*store_)) {}

  std::int64_t Start(std::int64_t organization_uid, std::int64_t operator_uid = 7) {
    StoredOperation operation;
    const auto transaction = store_->Begin().value();
    operation.uid = transaction->NextUid(ResourceType::kSite).value();
    operation.organization_uid = organization_uid;
    operation.operator_uid = operator_uid;
    operation.token_uid = 8;
    operation.request = "asked";
    operation.shown.set_kind("update sites");
    operation.shown.set_state(v1::Operation::QUEUED);
    operation.shown.set_total(10);
    EXPECT_TRUE(transaction->InsertOperation(operation).ok());
    EXPECT_TRUE(transaction->CommitAnswer({}).ok());
    return operation.uid;
  }
  absl::Status Save(const StoredOperation& operation) {
    const auto transaction = store_->Begin().value();
    const absl::Status status = transaction->SaveOperation(operation);
    return status.ok() ? transaction->CommitAnswer({}) : status;
  }
  std::vector<std::int64_t> Uids(const OperationQuery& query) {
    std::vector<std::int64_t> uids;
    const auto operations = store_->ListOperations(query).value();
    for (const StoredOperation& operation : operations) {
      uids.push_back(operation.uid);
    }
    return uids;
  }

  std::unique_ptr<Store> store_;
  Estate estate_;
};

INSTANTIATE_TEST_SUITE_P(Stores, OperationsContract, testing::Bool(), NameOfStore);

TEST_P(OperationsContract, KeepsWhatWasAskedAndHowFarItIs) {
  const std::int64_t uid = Start(estate_.root);
  StoredOperation operation = store_->FindOperation(uid).value().value();
  EXPECT_EQ(operation.shown.name(), "operations/" + std::to_string(uid));
  EXPECT_EQ(operation.shown.organization(), "organizations/root");
  EXPECT_EQ(operation.shown.state(), v1::Operation::QUEUED);
  EXPECT_EQ(operation.request, "asked");
  EXPECT_EQ(operation.operator_uid, 7);
  EXPECT_EQ(operation.token_uid, 8);
  EXPECT_TRUE(operation.shown.has_create_time());

  operation = store_->ClaimOperation().value().value();
  EXPECT_EQ(operation.shown.state(), v1::Operation::RUNNING);
  operation.after_name = "farms/main/sites/m";
  operation.after_uid = 42;
  operation.counting = true;
  operation.shown.set_done(5);
  ASSERT_TRUE(Save(operation).ok());
  const StoredOperation found = store_->FindOperation(uid).value().value();
  EXPECT_EQ(found.after_name, "farms/main/sites/m");
  EXPECT_EQ(found.after_uid, 42);
  EXPECT_TRUE(found.counting);
  EXPECT_EQ(found.shown.done(), 5);
  EXPECT_EQ(found.shown.total(), 10);
  EXPECT_FALSE(store_->FindOperation(uid + 1).value().has_value());
}

TEST_P(OperationsContract, WritesProgressWithTheChangeOrNotAtAll) {
  const std::int64_t uid = Start(estate_.root);
  StoredOperation operation = store_->ClaimOperation().value().value();
  operation.shown.set_done(1);
  {
    const auto dropped = store_->Begin().value();
    EXPECT_TRUE(dropped->SaveOperation(operation).ok());
  }
  EXPECT_EQ(store_->FindOperation(uid).value()->shown.done(), 0);
  const CommittedChange change = InTransaction(*store_, [&](Transaction& t) {
    const auto site =
        MakeRow(t, ResourceType::kSite, "farms/main/sites/a", estate_.main, estate_.root);
    EXPECT_TRUE(t.Insert(site).ok());
    operation.change_id = t.change_id();
    EXPECT_TRUE(t.SaveOperation(operation).ok());
  });
  EXPECT_EQ(store_->FindOperation(uid).value()->shown.done(), 1);
  EXPECT_EQ(store_->FindOperation(uid).value()->shown.revision(), change.revision);
}

TEST_P(OperationsContract, TakesUpWhatIsUnderWayUntilItEnds) {
  EXPECT_FALSE(store_->ClaimOperation().value().has_value());
  const std::int64_t uid = Start(estate_.root);
  StoredOperation operation = store_->ClaimOperation().value().value();
  EXPECT_EQ(operation.uid, uid);
  EXPECT_EQ(store_->ClaimOperation().value()->uid, uid);  // this instance's own
  operation.shown.set_state(v1::Operation::SUCCEEDED);
  ASSERT_TRUE(Save(operation).ok());
  EXPECT_FALSE(store_->ClaimOperation().value().has_value());
  EXPECT_TRUE(absl::IsAborted(Save(operation))) << "it has ended";
}

TEST_P(OperationsContract, RemembersWhoFirstAskedForTheEnd) {
  const std::int64_t uid = Start(estate_.root);
  for (const char* by : {"alice: wrong ones", "bob"}) {
    const auto transaction = store_->Begin().value();
    ASSERT_TRUE(transaction->AskToCancel(uid, by).ok());
    ASSERT_TRUE(transaction->CommitAnswer({}).ok());
  }
  StoredOperation operation = store_->ClaimOperation().value().value();
  EXPECT_EQ(operation.cancelled_by, "alice: wrong ones");
  EXPECT_TRUE(operation.shown.cancel_asked());
  ASSERT_TRUE(Save(operation).ok());
  EXPECT_EQ(store_->FindOperation(uid).value()->cancelled_by, "alice: wrong ones");
}

TEST_P(OperationsContract, ListsTheNewestFirstOfVisibleOrganizations) {
  std::int64_t below = 0;
  InTransaction(*store_, [&](Transaction& t) {
    const auto row = MakeRow(t, ResourceType::kOrganization, "organizations/acme", 0, estate_.root);
    EXPECT_TRUE(t.Insert(row).ok());
    below = row.uid;
  });
  const std::int64_t first = Start(estate_.root, 1);
  const std::int64_t second = Start(below, 2);
  EXPECT_THAT(Uids({}), ElementsAre(second, first));
  EXPECT_THAT(Uids({.limit = 1}), ElementsAre(second));
  EXPECT_THAT(Uids({.before_uid = second}), ElementsAre(first));
  using Within = std::vector<std::int64_t>;
  EXPECT_THAT(Uids({.within = Within{estate_.root}}), ElementsAre(second, first));
  EXPECT_THAT(Uids({.within = Within{below}}), ElementsAre(second));
  EXPECT_THAT(Uids({.within = Within{}}), IsEmpty());
  EXPECT_THAT(Uids({.within = Within{}, .operator_uid = 1}), ElementsAre(first));

  StoredOperation operation = store_->ClaimOperation().value().value();
  operation.shown.set_state(v1::Operation::FAILED);
  ASSERT_TRUE(Save(operation).ok());
  EXPECT_EQ(Uids({.running = true}).size(), 1U);
}

TEST_P(OperationsContract, AnAttemptThatFailsLeavesNoTraceAndTheTransactionGoesOn) {
  const auto site = [&](Transaction& t, const char* id) {
    return MakeRow(t, ResourceType::kSite, std::string("farms/main/sites/") + id, estate_.main,
                   estate_.root);
  };
  InTransaction(*store_, [&](Transaction& t) {
    EXPECT_TRUE(t.Insert(site(t, "a")).ok());
    const absl::Status failed = t.Try([&] {
      EXPECT_TRUE(t.Insert(site(t, "b")).ok());
      return t.Insert(site(t, "a"));
    });
    EXPECT_TRUE(absl::IsAlreadyExists(failed)) << failed;
    EXPECT_TRUE(t.Try([&] { return t.Insert(site(t, "c")); }).ok());
  });
  EXPECT_TRUE(store_->Find("farms/main/sites/a").value().has_value());
  EXPECT_FALSE(store_->Find("farms/main/sites/b").value().has_value());
  EXPECT_TRUE(store_->Find("farms/main/sites/c").value().has_value());
}

// Two instances of control on one database.
TEST(OperationsOfSeveralInstances, AreTakenOverWhenTheInstanceIsGone) {
  const std::string url = TestDatabase::Get().MakeDatabase();
  auto first = OpenPgStore({.url = url}).value();
  auto second = OpenPgStore({.url = url}).value();
  const Estate estate = MakeEstate(*first);
  // What holds an instance's lock.
  ASSERT_TRUE(first->WaitForNotify({}).ok());
  ASSERT_TRUE(second->WaitForNotify({}).ok());
  StoredOperation operation;
  operation.organization_uid = estate.root;
  operation.shown.set_state(v1::Operation::QUEUED);
  {
    const auto transaction = first->Begin().value();
    operation.uid = transaction->NextUid(ResourceType::kSite).value();
    ASSERT_TRUE(transaction->InsertOperation(operation).ok());
    ASSERT_TRUE(transaction->CommitAnswer({}).ok());
  }
  operation = first->ClaimOperation().value().value();
  EXPECT_FALSE(second->ClaimOperation().value().has_value());
  first.reset();
  std::optional<StoredOperation> taken;
  for (int tries = 0; tries < 500 && !taken.has_value(); ++tries) {
    taken = second->ClaimOperation().value();
  }
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(taken->uid, operation.uid);
  const auto late = second->Begin().value();
  EXPECT_TRUE(absl::IsAborted(late->SaveOperation(operation))) << "the first one's claim is over";
}

}  // namespace
}  // namespace croft::control::store
