// What every Store promises of owners: run on the fake and
// on PostgreSQL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/control/store/store_contract.h"
#include "tests/unit/control/store/store_fixture.h"

namespace croft::control::store {
namespace {

class StoreContractOfApply : public testing::TestWithParam<bool> {
 protected:
  StoreContractOfApply() : store_(MakeStore(GetParam())), estate_(MakeEstate(*store_)) {}

  StoredResource Row(Transaction& t, const std::string& name) {
    return MakeRow(t, ResourceType::kSite, "farms/main/sites/" + name, estate_.main, estate_.root);
  }
  std::string OwnersOf(const std::string& name) {
    return store_->Find("farms/main/sites/" + name).value()->owners;
  }

  std::unique_ptr<Store> store_;
  Estate estate_;
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreContractOfApply, testing::Bool(), NameOfStore);

TEST_P(StoreContractOfApply, KeepsOwnersBesideTheBody) {
  const std::string bytes("\0owners\xff", 8);
  StoredResource one, two;
  InTransaction(*store_, [&](Transaction& t) {
    one = Row(t, "one");
    one.owners = bytes;
    EXPECT_TRUE(t.Insert(one).ok());
    two = Row(t, "two");
    EXPECT_TRUE(t.Insert(two).ok());
    StoredResource three = Row(t, "three");
    three.owners = "many";
    EXPECT_TRUE(t.InsertMany({three, Row(t, "four")}).ok());
  });
  EXPECT_EQ(OwnersOf("one"), bytes);
  EXPECT_EQ(OwnersOf("two"), "");
  EXPECT_EQ(OwnersOf("three"), "many");
  EXPECT_EQ(OwnersOf("four"), "");
  InTransaction(*store_, [&](Transaction& t) {
    StoredResource row = **t.FindForUpdate(one.name);
    row.owners = "";
    EXPECT_TRUE(t.Update(row).ok());
    StoredResource three = Row(t, "three");
    StoredResource five = Row(t, "five");
    five.owners = bytes;
    EXPECT_EQ(t.InsertMany({three, five}).value().size(), 1U);
  });
  EXPECT_EQ(OwnersOf("one"), "");
  EXPECT_EQ(OwnersOf("three"), "many");
  EXPECT_EQ(OwnersOf("five"), bytes);
  for (const node::v1::Record& record : DeltaSince(*store_, estate_.main, 0)) {
    EXPECT_EQ(record.body().find("owners"), std::string::npos);
  }
}

TEST_P(StoreContractOfApply, OwnersAloneAreNoChange) {
  const StoredResource site = Insert(*store_, estate_, ResourceType::kSite, "shop");
  const auto before = store_->Find(site.name).value();
  {
    const auto t = store_->Begin().value();
    StoredResource row = **t->FindForUpdate(site.name);
    row.owners = "o";
    ASSERT_TRUE(t->SetOwners(row).ok());
    const absl::Status kept = t->CommitAnswer({.who = "tester"});
    ASSERT_TRUE(kept.ok()) << kept;
  }
  const auto after = store_->Find(site.name).value();
  EXPECT_EQ(after->owners, "o");
  EXPECT_EQ(after->revision, before->revision);
  EXPECT_EQ(after->change_id, before->change_id);
  EXPECT_EQ(store_->GetHead()->position.revision(), before->revision);
}

}  // namespace
}  // namespace croft::control::store
