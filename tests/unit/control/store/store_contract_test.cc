// What every Store promises: run on the fake and on PostgreSQL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "control/store/pg_store.h"
#include "proto/contract/binding_rules.h"
#include "proto/contract/errors.h"
#include "tests/unit/control/store/fake_store.h"
#include "tests/unit/control/store/store_fixture.h"
#include "tests/unit/control/store/test_database.h"

namespace croft::control::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct Implementation {
  std::string name;
  std::function<std::unique_ptr<Store>()> make;
};

std::unique_ptr<Store> MakePgStore() {
  auto store = OpenPgStore({.url = TestDatabase::Get().MakeDatabase()});
  EXPECT_TRUE(store.ok()) << store.status();
  return *std::move(store);
}

class StoreContract : public testing::TestWithParam<Implementation> {
 protected:
  StoreContract() : store_(GetParam().make()), estate_(MakeEstate(*store_)) {}

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

INSTANTIATE_TEST_SUITE_P(
    Stores, StoreContract,
    testing::Values(Implementation{"Fake", [] { return std::make_unique<FakeStore>(); }},
                    Implementation{"PostgreSQL", MakePgStore}),
    [](const auto& param_info) { return param_info.param.name; });

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

TEST_P(StoreContract, PositionsAreKnownByEpochRevisionAndTag) {
  auto position = store_->GetHead()->position;
  EXPECT_NE(position.epoch(), 0U);
  EXPECT_TRUE(store_->KnowsPosition(position).value());
  position.set_tag(position.tag() + 1);
  EXPECT_FALSE(store_->KnowsPosition(position).value());
  position = store_->GetHead()->position;
  position.set_epoch(position.epoch() + 1);
  EXPECT_FALSE(store_->KnowsPosition(position).value());
  EXPECT_FALSE(store_->KnowsPosition(node::v1::Position()).value());
}

TEST_P(StoreContract, ADeltaHoldsTheFarmsOwnAndThePlatform) {
  const auto site = Insert(*store_, estate_, ResourceType::kSite, "a");
  InTransaction(*store_, [&](Transaction& t) {
    EXPECT_TRUE(t.Insert(MakeRow(t, ResourceType::kSite, "farms/other/sites/a", estate_.other,
                                 estate_.root))
                    .ok());
  });
  std::vector<std::string> bodies;
  for (const node::v1::Record& record : DeltaSince(*store_, estate_.main, 0)) {
    bodies.push_back(record.body());
  }
  EXPECT_THAT(bodies, ElementsAre("body of platform", "body of farms/main", site.body));
  EXPECT_EQ(DeltaSince(*store_, estate_.main, 2).size(), 0U);
  EXPECT_EQ(DeltaSince(*store_, estate_.other, 2).size(), 1U);
}

TEST_P(StoreContract, SnapshotsGoInKeyOrderInChunks) {
  std::vector<std::int64_t> uids;
  for (const char* id : {"a", "b", "c"}) {
    uids.push_back(Insert(*store_, estate_, ResourceType::kSite, id).uid);
  }
  const auto first = store_->ReadSnapshotChunk(estate_.main, node::v1::SITE, 0, 2).value();
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[1].uid(), uids[1]);
  EXPECT_EQ(first[1].revision(), 3);
  const auto rest =
      store_->ReadSnapshotChunk(estate_.main, node::v1::SITE, first[1].uid(), 2).value();
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].uid(), uids[2]);
  EXPECT_EQ(store_->ReadSnapshotChunk(estate_.main, node::v1::PLATFORM, 0, 9)->size(), 1U);
  EXPECT_EQ(store_->ReadSnapshotChunk(estate_.other, node::v1::SITE, 0, 9)->size(), 0U);
  EXPECT_EQ(store_->ReadSnapshotChunk(estate_.other, node::v1::FARM, 0, 9)->size(), 1U);
}

TEST_P(StoreContract, CompactionDropsTombstonesAndRaisesTheFloor) {
  const auto a = Insert(*store_, estate_, ResourceType::kSite, "a");
  InTransaction(*store_, [&](Transaction& t) {
    EXPECT_TRUE(t.Delete(t.FindForUpdate(a.name).value().value()).ok());
  });
  EXPECT_EQ(DeltaSince(*store_, estate_.main, 2).size(), 1U);
  const auto deleted = store_->FindDeleted(a.name).value()->updated;
  ASSERT_TRUE(store_->Compact(deleted).ok());
  EXPECT_EQ(store_->GetHead()->compaction_floor, 0);
  EXPECT_EQ(DeltaSince(*store_, estate_.main, 2).size(), 1U);
  ASSERT_TRUE(store_->Compact(deleted + std::chrono::seconds(1)).ok());
  EXPECT_EQ(store_->GetHead()->compaction_floor, 3);
  EXPECT_FALSE(store_->FindDeleted(a.name).value().has_value());
  const auto below = store_->ReadDelta(estate_.main, 2, [](node::v1::Record) {});
  EXPECT_EQ(below.status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(DeltaSince(*store_, estate_.main, 0).size(), 2U);
}

TEST_P(StoreContract, NotifiesOfChangesAndMarks) {
  const auto wait = [&] { return store_->WaitForNotify(std::chrono::seconds(5)).value(); };
  EXPECT_TRUE(wait());
  EXPECT_FALSE(store_->WaitForNotify(std::chrono::milliseconds(1)).value());
  InTransaction(*store_, [](Transaction&) {});
  EXPECT_TRUE(wait());
  const auto node = Insert(*store_, estate_, ResourceType::kNode, "n1");
  EXPECT_TRUE(wait());
  NodeMarks mark{.node_uid = node.uid, .node = node.name, .farm_uid = estate_.main};
  mark.serving_revision = 3;
  mark.connected = mark.draining = true;
  mark.status = std::string("\0s", 2);
  mark.last_contact = std::chrono::system_clock::time_point(std::chrono::seconds(1000));
  ASSERT_TRUE(store_->WriteMarks({mark}).ok());
  EXPECT_TRUE(wait());
  mark.applied_revision = 4;
  ASSERT_TRUE(store_->WriteMarks({mark}).ok());
  const auto read = store_->ReadMarks(estate_.main).value();
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].node, node.name);
  EXPECT_EQ(read[0].serving_revision, 3);
  EXPECT_EQ(read[0].applied_revision, 4);
  EXPECT_TRUE(read[0].connected);
  EXPECT_FALSE(read[0].ever_connected);
  EXPECT_TRUE(read[0].draining);
  EXPECT_EQ(read[0].status, mark.status);
  EXPECT_EQ(read[0].last_contact, mark.last_contact);
  EXPECT_EQ(store_->ReadMarks(estate_.other)->size(), 0U);
  EXPECT_EQ(store_->ReadMarks(0)->size(), 1U);
}

TEST_P(StoreContract, AnAcceptedNumberStaysWithTheNode) {
  const auto node = Insert(*store_, estate_, ResourceType::kNode, "n");
  v1::VanishingSites accepted;
  accepted.set_epoch(~std::uint64_t{0});
  accepted.set_sites(17);
  EXPECT_TRUE(absl::IsNotFound(store_->AcceptVanishing(node.uid, accepted)));
  NodeMarks marks{.node_uid = node.uid, .node = node.name, .farm_uid = estate_.main};
  ASSERT_TRUE(store_->WriteMarks({marks}).ok());
  ASSERT_TRUE(store_->AcceptVanishing(node.uid, accepted).ok());
  marks.applied_revision = 3;
  ASSERT_TRUE(store_->WriteMarks({marks}).ok());
  const auto read = store_->ReadMarks(estate_.main).value();
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].accepted.epoch(), accepted.epoch());
  EXPECT_EQ(read[0].accepted.sites(), 17);
}

TEST_P(StoreContract, AJoinTokenIsGoodOnceAndForATime) {
  const auto now = std::chrono::system_clock::now();
  ASSERT_TRUE(
      store_->InsertJoinToken("h1", "farms/main/nodes/n1", now + std::chrono::hours(1)).ok());
  ASSERT_TRUE(
      store_->InsertJoinToken("h2", "farms/main/nodes/n1", now - std::chrono::hours(1)).ok());
  EXPECT_EQ(store_->TakeJoinToken("h1", now).value(), "farms/main/nodes/n1");
  for (const char* hash : {"h1", "h2", "h3"}) {
    EXPECT_EQ(store_->TakeJoinToken(hash, now).status().code(), absl::StatusCode::kNotFound)
        << hash;
  }
}

TEST_P(StoreContract, KnowsATokenByItsHashWhileItAndItsOperatorAreThere) {
  const auto make = [&](ResourceType type, const std::string& name) {
    StoredResource made;
    InTransaction(*store_, [&](Transaction& t) {
      made = MakeRow(t, type, name, 0, estate_.root);
      EXPECT_TRUE(t.Insert(made).ok());
    });
    return made;
  };
  const StoredResource alice = make(ResourceType::kOperator, "operators/alice");
  const StoredResource ci = make(ResourceType::kToken, "tokens/ci");
  const StoredResource other = make(ResourceType::kToken, "tokens/other");
  InTransaction(*store_, [&](Transaction& t) {
    EXPECT_TRUE(t.SetTokenHash(ci.uid, alice.uid, "hash").ok());
    EXPECT_TRUE(t.SetTokenHash(other.uid, alice.uid, "hash2").ok());
  });
  const auto session = store_->FindOperatorToken("hash").value();
  ASSERT_TRUE(session.has_value());
  EXPECT_EQ(session->token_row.name, "tokens/ci");
  EXPECT_EQ(session->operator_row.name, "operators/alice");
  EXPECT_FALSE(store_->FindOperatorToken("none").value().has_value());
  {
    const auto transaction = store_->Begin().value();
    EXPECT_TRUE(absl::IsAlreadyExists(transaction->SetTokenHash(other.uid, alice.uid, "hash")));
  }
  InTransaction(*store_, [&](Transaction& t) { EXPECT_TRUE(t.Delete(ci).ok()); });
  EXPECT_FALSE(store_->FindOperatorToken("hash").value().has_value());
  EXPECT_TRUE(store_->FindOperatorToken("hash2").value().has_value());
  InTransaction(*store_, [&](Transaction& t) { EXPECT_TRUE(t.Delete(alice).ok()); });
  EXPECT_FALSE(store_->FindOperatorToken("hash2").value().has_value());
  EXPECT_THAT(store_->ListUnclaimedTokens().value(), IsEmpty());
}

TEST_P(StoreContract, ListsWhatBelongsToOrganizationsAndThoseBelow) {
  const auto make = [&](ResourceType type, const std::string& name, std::int64_t farm,
                        std::int64_t owner) {
    std::int64_t uid = 0;
    InTransaction(*store_, [&](Transaction& t) {
      const StoredResource row = MakeRow(t, type, name, farm, owner);
      uid = row.uid;
      EXPECT_TRUE(t.Insert(row).ok());
    });
    return uid;
  };
  const auto reseller = make(ResourceType::kOrganization, "organizations/r", 0, estate_.root);
  const auto customer = make(ResourceType::kOrganization, "organizations/c", 0, reseller);
  make(ResourceType::kSite, "farms/main/sites/root", estate_.main, estate_.root);
  make(ResourceType::kSite, "farms/main/sites/r", estate_.main, reseller);
  make(ResourceType::kSite, "farms/main/sites/c", estate_.main, customer);
  const auto within = [&](ResourceType type, std::vector<std::int64_t> organizations) {
    return Names({.type = type, .within = std::move(organizations)});
  };
  EXPECT_THAT(within(ResourceType::kSite, {reseller}),
              ElementsAre("farms/main/sites/c", "farms/main/sites/r"));
  EXPECT_THAT(within(ResourceType::kSite, {customer}), ElementsAre("farms/main/sites/c"));
  EXPECT_THAT(within(ResourceType::kSite, {customer, reseller}),
              ElementsAre("farms/main/sites/c", "farms/main/sites/r"));
  EXPECT_THAT(within(ResourceType::kSite, {}), IsEmpty());
  EXPECT_THAT(within(ResourceType::kOrganization, {reseller}),
              ElementsAre("organizations/c", "organizations/r"));
  EXPECT_THAT(Names({.type = ResourceType::kSite,
                     .farm_uid = estate_.main,
                     .after_name = "farms/main/sites/c",
                     .within = std::vector{reseller}}),
              ElementsAre("farms/main/sites/r"));
}

TEST_P(StoreContract, KeepsTheFirstSecret) {
  EXPECT_EQ(store_->PutSecretIfAbsent("ca", std::string("\0x", 2)).value(), std::string("\0x", 2));
  EXPECT_EQ(store_->PutSecretIfAbsent("ca", "later").value(), std::string("\0x", 2));
}

TEST_P(StoreContract, ListsEventsNewestFirst) {
  std::vector<v1::Event> events(3);
  for (int i = 0; i < 3; ++i) {
    events[static_cast<std::size_t>(i)].set_node("farms/main/nodes/n" + std::to_string(i));
    events[static_cast<std::size_t>(i)].set_message("it \"happened\" \\ {again}");
    events[static_cast<std::size_t>(i)].mutable_time()->set_seconds(1000 + i);
  }
  events[1].set_site("farms/main/sites/a");
  ASSERT_TRUE(store_->InsertEvents(events).ok());
  const auto all = store_->ListEvents({.limit = 2}).value();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].node(), "farms/main/nodes/n2");
  EXPECT_EQ(all[0].message(), events[0].message());
  EXPECT_EQ(all[0].time().seconds(), 1002);
  EXPECT_EQ(store_->ListEvents({.before_id = all[1].id(), .limit = 9})->size(), 1U);
  EXPECT_EQ(store_->ListEvents({.limit = 9, .resource = "farms/main/sites/a"})->size(), 1U);
  EXPECT_EQ(store_->ListEvents({.limit = 9, .resource = "farms/main"})->size(), 3U);
  EXPECT_EQ(store_->ListEvents({.limit = 9, .resource = "farms/other"})->size(), 0U);
}

}  // namespace
}  // namespace croft::control::store
