// What every Store promises of its feed, of nodes, tokens and events: run on the fake and on
// PostgreSQL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/contract/errors.h"
#include "tests/unit/control/store/store_contract.h"
#include "tests/unit/control/store/store_fixture.h"

namespace croft::control::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class StoreOfNodes : public testing::TestWithParam<bool> {
 protected:
  StoreOfNodes() : store_(MakeStore(GetParam())), estate_(MakeEstate(*store_)) {}

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

INSTANTIATE_TEST_SUITE_P(Stores, StoreOfNodes, testing::Bool(), NameOfStore);

TEST_P(StoreOfNodes, PositionsAreKnownByEpochRevisionAndTag) {
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

TEST_P(StoreOfNodes, ADeltaHoldsTheFarmsOwnAndThePlatform) {
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

TEST_P(StoreOfNodes, SnapshotsGoInKeyOrderInChunks) {
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

TEST_P(StoreOfNodes, CompactionDropsTombstonesAndRaisesTheFloor) {
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

TEST_P(StoreOfNodes, NotifiesOfChangesAndMarks) {
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

TEST_P(StoreOfNodes, AnAcceptedNumberStaysWithTheNode) {
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

TEST_P(StoreOfNodes, AJoinTokenIsGoodOnceAndForATime) {
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

TEST_P(StoreOfNodes, KnowsATokenByItsHashWhileItAndItsOperatorAreThere) {
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

TEST_P(StoreOfNodes, ListsWhatBelongsToOrganizationsAndThoseBelow) {
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

TEST_P(StoreOfNodes, KeepsTheFirstSecret) {
  EXPECT_EQ(store_->PutSecretIfAbsent("ca", std::string("\0x", 2)).value(), std::string("\0x", 2));
  EXPECT_EQ(store_->PutSecretIfAbsent("ca", "later").value(), std::string("\0x", 2));
}

TEST_P(StoreOfNodes, ListsEventsNewestFirst) {
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
