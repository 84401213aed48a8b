// What every Store promises: run on the fake and on PostgreSQL.
#include "tests/unit/control/store/store_contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/contract/binding_rules.h"
#include "proto/contract/errors.h"
#include "tests/unit/control/store/store_fixture.h"

namespace croft::control::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class StoreContract : public testing::TestWithParam<bool> {
 protected:
  StoreContract() : store_(MakeStore(GetParam())), estate_(MakeEstate(*store_)) {}

  std::string Key(const std::string& host) {
    return contract::EncodeBindingKey({.port = 80, .ip = {}, .host = host});
  }
  std::vector<std::string> Names(const ListQuery& query) {
    std::vector<std::string> names;
    const auto rows = store_->List(query).value();
    for (const StoredResource& row : rows) {
      names.push_back(row.name);
    }
    return names;
  }

  std::unique_ptr<Store> store_;
  Estate estate_;
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::Bool(), NameOfStore);

TEST_P(StoreContract, ReadsBackWhatWasInserted) {
  const StoredResource site = Insert(*store_, estate_, ResourceType::kSite, "shop");
  const auto found = store_->Find("farms/main/sites/shop").value();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->uid, site.uid);
  EXPECT_EQ(found->type, ResourceType::kSite);
  EXPECT_EQ(found->body, site.body);
  EXPECT_EQ(found->farm_uid, estate_.main);
  EXPECT_EQ(found->organization, "organizations/root");
  EXPECT_EQ(found->revision, 2);
  EXPECT_GT(found->change_id, 0);
  EXPECT_EQ(found->created, found->updated);
  EXPECT_EQ(store_->FindByUid(ResourceType::kSite, site.uid).value()->name, site.name);
  EXPECT_FALSE(store_->Find("farms/main/sites/none").value().has_value());
}

TEST_P(StoreContract, KeepsBodiesWithAnyBytes) {
  InTransaction(*store_, [&](Transaction& t) {
    auto row = MakeRow(t, ResourceType::kSite, "farms/main/sites/a", estate_.main, estate_.root);
    row.body = std::string("\0\x01\xff\\'\"", 6);
    EXPECT_TRUE(t.Insert(row).ok());
  });
  EXPECT_EQ(store_->Find("farms/main/sites/a").value()->body, std::string("\0\x01\xff\\'\"", 6));
}

TEST_P(StoreContract, LeavesNoTraceOfAnAbandonedTransaction) {
  {
    auto t = store_->Begin().value();
    ASSERT_TRUE(t->Insert(MakeRow(*t, ResourceType::kSite, "farms/main/sites/a", estate_.main,
                                  estate_.root))
                    .ok());
  }
  EXPECT_FALSE(store_->Find("farms/main/sites/a").value().has_value());
  EXPECT_EQ(store_->GetHead()->position.revision(), 1);
}

TEST_P(StoreContract, CommitOrderIsRevisionOrder) {
  auto first = store_->Begin().value();
  auto second = store_->Begin().value();
  EXPECT_LT(first->change_id(), second->change_id());
  ASSERT_TRUE(first
                  ->Insert(MakeRow(*first, ResourceType::kSite, "farms/main/sites/a", estate_.main,
                                   estate_.root))
                  .ok());
  ASSERT_TRUE(second
                  ->Insert(MakeRow(*second, ResourceType::kSite, "farms/main/sites/b", estate_.main,
                                   estate_.root))
                  .ok());
  EXPECT_EQ(second->Commit({.who = "b"})->revision, 2);
  EXPECT_EQ(first->Commit({.who = "a"})->revision, 3);
  const auto delta = DeltaSince(*store_, estate_.main, 2);
  ASSERT_EQ(delta.size(), 1U);
  EXPECT_EQ(delta[0].body(), "body of farms/main/sites/a");
}

TEST_P(StoreContract, RefusesATakenName) {
  Insert(*store_, estate_, ResourceType::kSite, "a");
  auto t = store_->Begin().value();
  const absl::Status status =
      t->Insert(MakeRow(*t, ResourceType::kSite, "farms/main/sites/a", estate_.main, estate_.root));
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(contract::FindDetail(status)->reason(), "NAME_TAKEN");
}

TEST_P(StoreContract, UpdateMovesTheVersionAndTheRevision) {
  StoredResource row = Insert(*store_, estate_, ResourceType::kSite, "a");
  const auto before = store_->Find(row.name).value();
  InTransaction(*store_, [&](Transaction& t) {
    row = t.FindForUpdate(row.name).value().value();
    row.body = "changed";
    EXPECT_TRUE(t.Update(row).ok());
  });
  const auto after = store_->Find(row.name).value();
  EXPECT_EQ(after->body, "changed");
  EXPECT_EQ(after->revision, before->revision + 1);
  EXPECT_NE(after->change_id, before->change_id);
  EXPECT_EQ(after->created, before->created);
}

TEST_P(StoreContract, DeleteLeavesATombstoneAndFreesTheName) {
  const StoredResource row = Insert(*store_, estate_, ResourceType::kSite, "a");
  InTransaction(*store_, [&](Transaction& t) {
    EXPECT_TRUE(t.SetBindings(estate_.main, row.uid, {Key("a.example")}).ok());
    EXPECT_TRUE(t.Delete(t.FindForUpdate(row.name).value().value()).ok());
  });
  EXPECT_FALSE(store_->Find(row.name).value().has_value());
  EXPECT_FALSE(store_->FindBinding(estate_.main, Key("a.example")).value().has_value());
  const auto delta = DeltaSince(*store_, estate_.main, 2);
  ASSERT_EQ(delta.size(), 1U);
  EXPECT_TRUE(delta[0].deleted());
  EXPECT_EQ(delta[0].uid(), row.uid);
  EXPECT_EQ(delta[0].body(), "");
  EXPECT_NE(Insert(*store_, estate_, ResourceType::kSite, "a").uid, row.uid);
}

TEST_P(StoreContract, InsertManyTellsWhichNamesWereTaken) {
  Insert(*store_, estate_, ResourceType::kAccount, "bob");
  std::vector<std::string> taken;
  InTransaction(*store_, [&](Transaction& t) {
    std::vector<StoredResource> rows;
    const auto uids = t.NextUids(ResourceType::kAccount, 3).value();
    for (const char* id : {"alice", "bob", "carol"}) {
      StoredResource& row = rows.emplace_back();
      row.type = ResourceType::kAccount;
      row.uid = uids[rows.size() - 1];
      row.name = std::string("farms/main/accounts/") + id;
      row.farm_uid = estate_.main;
      row.organization_uid = estate_.root;
      row.body = std::string("\0body", 5);
    }
    taken = t.InsertMany(rows).value();
    EXPECT_EQ(t.FindMany(ResourceType::kAccount,
                         {"farms/main/accounts/carol", "farms/main/accounts/none"})
                  ->size(),
              1U);
    StoredResource files;
    files.type = ResourceType::kStore;
    files.uid = t.NextUid(ResourceType::kStore).value();
    files.name = "farms/main/stores/fresh";
    files.farm_uid = estate_.main;
    files.organization_uid = estate_.root;
    EXPECT_TRUE(t.Insert(files).ok());
    EXPECT_EQ(t.FindStores(estate_.main)->back().name, files.name) << "this transaction's own too";
  });
  EXPECT_THAT(taken, ElementsAre("farms/main/accounts/bob"));
  EXPECT_THAT(Names({.type = ResourceType::kAccount}),
              ElementsAre("farms/main/accounts/alice", "farms/main/accounts/bob",
                          "farms/main/accounts/carol"));
  EXPECT_EQ(store_->Find("farms/main/accounts/alice").value()->body, std::string("\0body", 5));
}

TEST_P(StoreContract, ListsByNameAfterACursor) {
  for (const char* id : {"c", "a", "b", "d"}) {
    Insert(*store_, estate_, ResourceType::kSite, id);
  }
  InTransaction(*store_, [&](Transaction& t) {
    EXPECT_TRUE(t.Insert(MakeRow(t, ResourceType::kSite, "farms/other/sites/a", estate_.other,
                                 estate_.root))
                    .ok());
  });
  EXPECT_THAT(Names({.type = ResourceType::kSite, .farm_uid = estate_.main, .limit = 2}),
              ElementsAre("farms/main/sites/a", "farms/main/sites/b"));
  EXPECT_THAT(Names({.type = ResourceType::kSite,
                     .farm_uid = estate_.main,
                     .after_name = "farms/main/sites/b"}),
              ElementsAre("farms/main/sites/c", "farms/main/sites/d"));
  EXPECT_THAT(Names({.type = ResourceType::kSite, .farm_uid = estate_.other}),
              ElementsAre("farms/other/sites/a"));
  EXPECT_EQ(Names({.type = ResourceType::kSite}).size(), 5U);
}

TEST_P(StoreContract, ABindingBelongsToOneSiteOfTheFarm) {
  const auto a = Insert(*store_, estate_, ResourceType::kSite, "a");
  const auto b = Insert(*store_, estate_, ResourceType::kSite, "b");
  InTransaction(*store_, [&](Transaction& t) {
    EXPECT_TRUE(t.SetBindings(estate_.main, a.uid, {Key("x.example"), Key("y.example")}).ok());
    EXPECT_TRUE(t.SetBindings(estate_.other, 999, {Key("x.example")}).ok());
  });
  {
    auto t = store_->Begin().value();
    const absl::Status status =
        t->SetBindings(estate_.main, b.uid, {Key("z.example"), Key("y.example")});
    EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
    EXPECT_EQ(contract::FindDetail(status)->reason(), "BINDING_TAKEN");
    EXPECT_EQ(contract::FindDetail(status)->resource(), "farms/main/sites/a");
    EXPECT_EQ(status.message(),
              "binding *:80:y.example already belongs to farms/main/sites/a; remove it there "
              "first");
  }
  InTransaction(*store_, [&](Transaction& t) {
    EXPECT_TRUE(t.SetBindings(estate_.main, a.uid, {Key("x.example")}).ok());
    EXPECT_TRUE(t.SetBindings(estate_.main, b.uid, {Key("y.example")}).ok());
  });
  EXPECT_EQ(store_->FindBinding(estate_.main, Key("y.example")).value(), b.uid);
}

TEST_P(StoreContract, AHomeBelongsToOneAccount) {
  const auto place = Insert(*store_, estate_, ResourceType::kStore, "content");
  const auto add = [&](const std::string& id, const std::string& path) {
    auto t = store_->Begin().value();
    auto row = MakeRow(*t, ResourceType::kAccount, "farms/main/accounts/" + id, estate_.main,
                       estate_.root);
    row.store_uid = place.uid;
    row.home_path = path;
    const absl::Status status = t->Insert(row);
    return status.ok() ? t->Commit({}).status() : status;
  };
  ASSERT_TRUE(add("a", "x/y").ok());
  ASSERT_TRUE(add("b", "x/z").ok());
  const absl::Status taken = add("c", "x/y");
  EXPECT_TRUE(absl::IsAlreadyExists(taken)) << taken;
  EXPECT_EQ(contract::FindDetail(taken)->reason(), "HOME_TAKEN");
  EXPECT_EQ(contract::FindDetail(taken)->resource(), "farms/main/accounts/a");
  EXPECT_EQ(contract::FindDetail(add("a", "x/y"))->reason(), "NAME_TAKEN");
  InTransaction(*store_, [&](Transaction& t) {
    EXPECT_TRUE(t.Delete(t.FindForUpdate("farms/main/accounts/a").value().value()).ok());
  });
  EXPECT_TRUE(add("c", "x/y").ok());
  const auto undelete = [&](const std::string& path) {
    auto t = store_->Begin().value();
    auto row = t->FindDeletedForUpdate("farms/main/accounts/a", 0).value().value();
    row.home_path = path;
    const absl::Status status = t->Undelete(row);
    return status.ok() ? t->Commit({}).status() : status;
  };
  const absl::Status refused = undelete("x/y");
  EXPECT_TRUE(absl::IsAlreadyExists(refused)) << refused;
  EXPECT_EQ(contract::FindDetail(refused)->reason(), "HOME_TAKEN");
  EXPECT_EQ(contract::FindDetail(refused)->resource(), "farms/main/accounts/c");
  InTransaction(*store_, [&](Transaction& t) {
    EXPECT_TRUE(t.Delete(t.FindForUpdate("farms/main/accounts/c").value().value()).ok());
  });
  EXPECT_TRUE(undelete("x/y").ok());
  EXPECT_EQ(contract::FindDetail(add("d", "x/y"))->resource(), "farms/main/accounts/a");
}

TEST_P(StoreContract, HomeSlotsAreDrawnOnce) {
  InTransaction(*store_, [&](Transaction& t) {
    EXPECT_EQ(t.UsedHomeSlots(7).value(), 0);
    EXPECT_EQ(t.TakeHomeSlots(7, 3).value(), 0);
    EXPECT_EQ(t.TakeHomeSlots(7, 1).value(), 3);
  });
  InTransaction(*store_, [&](Transaction& t) {
    EXPECT_EQ(t.UsedHomeSlots(7).value(), 4);
    EXPECT_EQ(t.TakeHomeSlots(7, 1).value(), 4);
  });
}

TEST_P(StoreContract, IdentitiesAreTheSmallestFree) {
  const auto a = Insert(*store_, estate_, ResourceType::kPool, "a");
  const auto b = Insert(*store_, estate_, ResourceType::kPool, "b");
  EXPECT_EQ(a.identity, 1U);
  EXPECT_EQ(b.identity, 2U);
  InTransaction(*store_, [&](Transaction& t) {
    EXPECT_TRUE(t.Delete(t.FindForUpdate(a.name).value().value()).ok());
  });
  EXPECT_EQ(Insert(*store_, estate_, ResourceType::kPool, "c").identity, 1U);
  EXPECT_EQ(Insert(*store_, estate_, ResourceType::kPool, "d").identity, 3U);
}

TEST_P(StoreContract, FindsWhatRefersToAResource) {
  const auto pool = Insert(*store_, estate_, ResourceType::kPool, "p");
  const auto files = Insert(*store_, estate_, ResourceType::kStore, "s");
  const auto site = Insert(*store_, estate_, ResourceType::kSite, "a");
  InTransaction(*store_, [&](Transaction& t) {
    EXPECT_TRUE(t.SetReferences(site, {pool.name, files.name}).ok());
    auto account =
        MakeRow(t, ResourceType::kAccount, "farms/main/accounts/bob", estate_.main, estate_.root);
    account.store_uid = files.uid;
    EXPECT_TRUE(t.Insert(account).ok());
  });
  auto t = store_->Begin().value();
  EXPECT_THAT(t->FindReferences(pool, 5).value(), ElementsAre(site.name));
  EXPECT_THAT(t->FindReferences(files, 5).value(),
              ElementsAre("farms/main/accounts/bob", site.name));
  EXPECT_EQ(t->FindReferences(files, 1)->size(), 1U);
  EXPECT_THAT(t->FindReferences(site, 5).value(), IsEmpty());
  const auto farm = t->Find("farms/main").value().value();
  EXPECT_EQ(t->FindReferences(farm, 50)->size(), 4U);
  EXPECT_TRUE(t->SetReferences(site, {files.name}).ok());
  EXPECT_THAT(t->FindReferences(pool, 5).value(), IsEmpty());
}

TEST_P(StoreContract, RemembersAnswersByRequestId) {
  const ChangeInfo info{.who = "ann",
                        .request_id = "r1",
                        .request_fingerprint = "f",
                        .answer = std::string("\0a", 2),
                        .reason = "why"};
  const auto change = InTransaction(
      *store_, [](Transaction&) {}, info);
  const auto known = store_->FindRequest("ann", "r1").value();
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->fingerprint, "f");
  EXPECT_EQ(known->answer, std::string("\0a", 2));
  EXPECT_EQ(known->revision, change.revision);
  EXPECT_FALSE(store_->FindRequest("bob", "r1").value().has_value());
  auto again = store_->Begin().value();
  EXPECT_EQ(again->Commit(info).status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(store_->GetHead()->position.revision(), change.revision);
}

TEST_P(StoreContract, ChangesTellWhatTheyTouched) {
  const auto a = Insert(*store_, estate_, ResourceType::kSite, "a");
  Insert(*store_, estate_, ResourceType::kSite, "b");
  InTransaction(*store_,
                [&](Transaction& t) {
                  auto row = t.FindForUpdate(a.name).value().value();
                  row.body = "2";
                  EXPECT_TRUE(t.Update(row).ok());
                },
                {.who = "ann", .request_id = "r", .reason = "typo"});
  InTransaction(*store_, [&](Transaction& t) {
    EXPECT_TRUE(t.Delete(t.FindForUpdate(a.name).value().value()).ok());
  });
  const auto all = store_->ListChanges({.limit = 10}).value();
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[1].who(), "ann");
  EXPECT_EQ(all[1].reason(), "typo");
  EXPECT_GT(all[1].time().seconds(), 0);
  EXPECT_EQ(all[4].resources_size(), 4);
  std::vector<std::string> actions;
  const auto of_a = store_->ListChanges({.limit = 10, .resource = a.name}).value();
  for (const v1::Change& change : of_a) {
    actions.push_back(std::to_string(change.revision()) + " " + change.resources(0).action());
  }
  EXPECT_THAT(actions, ElementsAre("5 delete", "4 update", "2 create"));
  EXPECT_EQ(store_->ListChanges({.before_revision = 4, .limit = 1}).value()[0].revision(), 3);
}

TEST_P(StoreContract, ListsWhatAChangeWroteAsItIsNow) {
  const auto a = Insert(*store_, estate_, ResourceType::kSite, "a");
  const auto b = Insert(*store_, estate_, ResourceType::kSite, "b");
  Insert(*store_, estate_, ResourceType::kPool, "p");
  InTransaction(*store_, [&](Transaction& t) {
    auto row = t.FindForUpdate(a.name).value().value();
    row.body = "2";
    EXPECT_TRUE(t.Update(row).ok());
    EXPECT_TRUE(t.Delete(t.FindForUpdate(b.name).value().value()).ok());
  });
  const auto written = [&](std::int64_t revision) {
    std::vector<std::string> bodies;
    const auto rows = store_->ListWritten(revision, ResourceType::kSite, 10).value();
    for (const StoredResource& row : rows) {
      bodies.push_back(row.name + " " + row.body);
    }
    return bodies;
  };
  EXPECT_THAT(written(2), ElementsAre(a.name + " 2"));
  EXPECT_THAT(written(3), ElementsAre());
  EXPECT_THAT(written(4), ElementsAre());
  EXPECT_THAT(written(5), ElementsAre(a.name + " 2"));
}

}  // namespace
}  // namespace croft::control::store
