// What every Store promises of changes and of the versions they wrote: run on the fake and on
// PostgreSQL.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "control/store/row_type.h"
#include "tests/unit/control/store/store_contract.h"
#include "tests/unit/control/store/store_fixture.h"

namespace croft::control::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// "5 update shop: old -> new"
std::string Describe(const Version& version) {
  constexpr const char* kActions[] = {"create", "update", "delete", "undelete"};
  return fmt::format("{} {} {}: {} -> {}", version.change.revision(),
                     kActions[static_cast<int>(version.action)],
                     version.row.name.substr(version.row.name.rfind('/') + 1),
                     version.before.has_value() ? version.before->body : "none",
                     version.row.deleted ? "none" : version.row.body);
}

class StoreHistory : public testing::TestWithParam<bool> {
 protected:
  StoreHistory() : store_(MakeStore(GetParam())), estate_(MakeEstate(*store_)) {}

  CommittedChange Change(const std::string& name, const std::string& body,
                         const std::string& who = "tester") {
    return InTransaction(*store_,
                         [&](Transaction& t) {
                           auto row = t.FindForUpdate(name).value().value();
                           row.body = body;
                           EXPECT_TRUE(t.Update(row).ok());
                         },
                         {.who = who});
  }
  CommittedChange Delete(const std::string& name) {
    return InTransaction(*store_, [&](Transaction& t) {
      EXPECT_TRUE(t.Delete(t.FindForUpdate(name).value().value()).ok());
    });
  }
  CommittedChange Undelete(const std::string& name) {
    return InTransaction(*store_, [&](Transaction& t) {
      EXPECT_TRUE(t.Undelete(t.FindDeletedForUpdate(name, 0).value().value()).ok());
    });
  }
  StoredResource InsertSite(const std::string& id) {
    return Insert(*store_, estate_, ResourceType::kSite, id);
  }
  // One site's life: created (2), changed (3), deleted (4), back (5), changed (6), deleted (7);
  // another of that name (8).
  void LiveTwice() {
    InsertSite("a");
    Change(kA, "two");
    Delete(kA);
    Undelete(kA);
    Change(kA, "three");
    Delete(kA);
    InsertSite("a");
  }
  // The whole log after a position, by pages.
  std::vector<std::string> Log(LogPosition after, int page, std::int64_t last = 0) {
    std::vector<std::string> lines;
    for (;;) {
      const auto read = store_->ListLog(after, last, page);
      EXPECT_TRUE(read.ok()) << read.status();
      if (!read.ok() || (read->versions.empty() && read->next.revision == after.revision)) {
        return lines;
      }
      for (const Version& version : read->versions) {
        lines.push_back(Describe(version));
      }
      after = read->next;
    }
  }
  std::vector<std::string> History(const std::string& name, int page) {
    std::vector<std::string> lines;
    HistoryPosition from;
    do {
      const auto read = store_->ListHistory(name, from, page);
      EXPECT_TRUE(read.ok()) << read.status();
      if (!read.ok()) {
        return lines;
      }
      for (const Version& version : read->versions) {
        lines.push_back(Describe(version));
      }
      from = read->next;
    } while (from.change_id != 0);
    return lines;
  }

  static constexpr char kA[] = "farms/main/sites/a";
  std::unique_ptr<Store> store_;
  Estate estate_;
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreHistory, testing::Bool(), NameOfStore);

const char kBodyOfA[] = "body of farms/main/sites/a";

TEST_P(StoreHistory, HasEveryVersionOfANameNewestFirst) {
  LiveTwice();
  const std::string first = kBodyOfA;
  for (const int page : {1, 2, 3, 6, 7, 100}) {
    EXPECT_THAT(History(kA, page),
                ElementsAre("8 create a: none -> " + first, "7 delete a: three -> none",
                            "6 update a: two -> three", "5 undelete a: none -> two",
                            "4 delete a: two -> none", "3 update a: " + first + " -> two",
                            "2 create a: none -> " + first))
        << page;
  }
  EXPECT_THAT(History("farms/main/sites/b", 10), IsEmpty());
  const auto newest = store_->ListHistory(kA, {}, 3)->versions;
  EXPECT_EQ(newest[0].change.who(), "tester");
  EXPECT_EQ(newest[0].row.organization, "organizations/root");
  EXPECT_EQ(newest[0].row.farm_uid, estate_.main);
  EXPECT_NE(newest[0].row.uid, newest[1].row.uid);
  EXPECT_TRUE(newest[1].row.deleted);
  EXPECT_EQ(newest[1].row.body, "three");
  EXPECT_EQ(newest[2].row.revision, 6);
  EXPECT_EQ(newest[2].before->revision, 5);
  EXPECT_EQ(newest[1].before->change_id, newest[2].row.change_id);
  EXPECT_LT(newest[2].row.created, newest[2].row.updated);
}

TEST_P(StoreHistory, KnowsWhatWasPurged) {
  LiveTwice();
  Delete(kA);
  ASSERT_TRUE(store_->Compact(std::chrono::system_clock::now() + std::chrono::hours(1)).ok());
  ASSERT_FALSE(store_->FindDeleted(kA).value().has_value());
  EXPECT_EQ(History(kA, 3).size(), 8U);
  EXPECT_EQ(History(kA, 3)[0], std::string("9 delete a: ") + kBodyOfA + " -> none");
  EXPECT_EQ(store_->ListHistory(kA, {}, 1)->versions[0].row.organization_uid, 0);
}

// A version follows the one that it replaced, whichever transaction began first.
TEST_P(StoreHistory, FollowsTheOrderOfCommits) {
  InsertSite("a");
  auto early = store_->Begin().value();
  const auto late = Change(kA, "late");
  auto row = early->FindForUpdate(kA).value().value();
  row.body = "early";
  if (GetParam()) {
    row = store_->Find(kA).value().value();
    early = store_->Begin().value();  // the fake aborts what PostgreSQL lets wait
    row.body = "early";
  }
  ASSERT_TRUE(early->Update(row).ok());
  ASSERT_TRUE(early->Commit({.who = "tester"}).ok());
  EXPECT_EQ(late.revision, 3);
  EXPECT_THAT(History(kA, 1), ElementsAre("4 update a: late -> early",
                                          std::string("3 update a: ") + kBodyOfA + " -> late",
                                          std::string("2 create a: none -> ") + kBodyOfA));
}

TEST_P(StoreHistory, LogHasEveryChangeInItsOrder) {
  LiveTwice();
  InTransaction(*store_, [&](Transaction& t) {
    std::vector<StoredResource> rows;
    for (const char* id : {"x", "y", "z"}) {
      rows.push_back(MakeRow(t, ResourceType::kAccount, std::string("farms/main/accounts/") + id,
                             estate_.main, estate_.root));
      rows.back().body = id;
    }
    EXPECT_TRUE(t.InsertMany(rows).ok());
    auto site = t.FindForUpdate(kA).value().value();
    site.body = "new";
    EXPECT_TRUE(t.Update(site).ok());
  });
  Change("farms/main/accounts/y", "y2");
  const std::string first = kBodyOfA;
  for (const int page : {1, 2, 3, 100}) {
    EXPECT_THAT(Log({.revision = 1}, page),
                ElementsAre("2 create a: none -> " + first, "3 update a: " + first + " -> two",
                            "4 delete a: two -> none", "5 undelete a: none -> two",
                            "6 update a: two -> three", "7 delete a: three -> none",
                            "8 create a: none -> " + first, "9 update a: " + first + " -> new",
                            "9 create x: none -> x", "9 create y: none -> y",
                            "9 create z: none -> z", "10 update y: y -> y2"))
        << page;
    EXPECT_THAT(Log({.revision = 9, .type = 0}, page, 9),
                ElementsAre("9 update a: " + first + " -> new", "9 create x: none -> x",
                            "9 create y: none -> y", "9 create z: none -> z"));
  }
  const LogPosition end = store_->ListLog({.revision = 9}, 0, 10)->next;
  EXPECT_EQ(end.revision, 10);
  EXPECT_EQ(end.tag, store_->GetHead()->position.tag());
  EXPECT_TRUE(store_->ListLog(end, 0, 10)->versions.empty());
}

TEST_P(StoreHistory, TellsWhatAResourceWas) {
  const StoredResource a = InsertSite("a");
  Change(kA, "two");
  Delete(kA);
  Undelete(kA);
  const auto as_of = [&](std::int64_t revision) {
    const auto row = store_->FindAsOf(ResourceType::kSite, a.uid, revision).value();
    return row.has_value() ? row->body : "none";
  };
  EXPECT_EQ(as_of(1), "none");
  EXPECT_EQ(as_of(2), kBodyOfA);
  EXPECT_EQ(as_of(3), "two");
  EXPECT_EQ(as_of(4), "none");
}

TEST_P(StoreHistory, ListsChangesByWhoAndSince) {
  InsertSite("a");
  Change(kA, "1", "ann");
  Change(kA, "2", "ben");
  Change(kA, "3", "ann");
  const auto revisions = [&](const ChangeQuery& query) {
    std::vector<std::int64_t> listed;
    for (const v1::Change& change : store_->ListChanges(query).value()) {
      listed.push_back(change.revision());
    }
    return listed;
  };
  EXPECT_THAT(revisions({.who = "ann"}), ElementsAre(5, 3));
  EXPECT_THAT(revisions({.before_revision = 5, .who = "ann"}), ElementsAre(3));
  EXPECT_THAT(revisions({.resource = kA, .who = "ben"}), ElementsAre(4));
  const auto now = std::chrono::system_clock::now();
  EXPECT_THAT(revisions({.who = "ann", .since = now - std::chrono::hours(1)}), ElementsAre(5, 3));
  EXPECT_THAT(revisions({.since = now + std::chrono::hours(1)}), IsEmpty());
}

TEST_P(StoreHistory, CountsWhatALargeChangeTouched) {
  InTransaction(*store_, [&](Transaction& t) {
    std::vector<StoredResource> rows;
    for (int i = 0; i < 150; ++i) {
      rows.push_back(MakeRow(t, ResourceType::kAccount, fmt::format("farms/main/accounts/a{}", i),
                             estate_.main, estate_.root));
    }
    EXPECT_TRUE(t.InsertMany(rows).ok());
  });
  Change("farms/main/accounts/a7", "new");
  const auto changes = store_->ListChanges({.limit = 2}).value();
  EXPECT_EQ(changes[0].total(), 1);
  EXPECT_EQ(changes[1].total(), 150);
  if (!GetParam()) {
    EXPECT_EQ(changes[1].resources_size(), 100);
  }
}

TEST_P(StoreHistory, ReadsOnInEvents) {
  std::vector<v1::Event> events(3);
  for (int i = 0; i < 3; ++i) {
    v1::Event& event = events[static_cast<std::size_t>(i)];
    event.set_node("farms/main/nodes/n" + std::to_string(i));
    event.mutable_time()->set_seconds(1000 + i);
  }
  events[2].set_pool("farms/main/pools/web");
  ASSERT_TRUE(store_->InsertEvents(events).ok());
  const auto all = store_->ListEvents({.after_id = 0}).value();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_LT(all[0].id(), all[1].id());
  EXPECT_EQ(all[0].node(), "farms/main/nodes/n0");
  EXPECT_EQ(store_->ListEvents({.after_id = all[0].id(), .limit = 1})->at(0).id(), all[1].id());
  EXPECT_TRUE(store_->ListEvents({.after_id = all[2].id()})->empty());
  const std::chrono::system_clock::time_point since{std::chrono::seconds(1001)};
  EXPECT_EQ(store_->ListEvents({.since = since})->size(), 2U);
  for (const char* about : {"farms/main/nodes/n2", "farms/main/pools/web"}) {
    EXPECT_EQ(store_->ListEvents({.resource = about})->size(), 1U) << about;
  }
  EXPECT_EQ(store_->ListEvents({.resource = "farms/main", .since = since})->size(), 2U);
}

}  // namespace
}  // namespace croft::control::store
