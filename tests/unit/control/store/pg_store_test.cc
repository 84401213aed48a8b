// What only PostgreSQL can show: rows changed by hand, killed connections, long deltas, waiting
// transactions, newer schemas.
#include "control/store/pg_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "control/domain/administrator.h"
#include "control/domain/resource_import.h"
#include "control/domain/resources.h"
#include "control/identity/tokens.h"
#include "control/store/migrations.h"
#include "control/store/pg_error.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/store.pb.h"
#include "proto/base/clock.h"
#include "tests/unit/control/store/store_fixture.h"
#include "tests/unit/control/store/test_database.h"

namespace croft::control::store {
namespace {

using testing::HasSubstr;

class PgStoreTest : public testing::Test {
 protected:
  PgStoreTest() : url_(TestDatabase::Get().MakeDatabase()), store_(Open()) {}

  std::unique_ptr<Store> Open() {
    auto store = OpenPgStore({.url = url_});
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  void Execute(const std::string& sql) { TestDatabase::Get().Execute(url_, sql); }
  std::string Select(const std::string& sql) { return TestDatabase::Get().Select(url_, sql); }
  void KillConnections() {
    Select(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE application_name = 'croft-control' AND datname = current_database()");
  }

  const std::string url_;
  std::unique_ptr<Store> store_;
};

TEST_F(PgStoreTest, OpeningAgainKeepsTheEpoch) {
  const auto epoch = store_->GetHead()->position.epoch();
  EXPECT_EQ(Open()->GetHead()->position.epoch(), epoch);
}

TEST_F(PgStoreTest, AnotherClusterIsAnotherEpoch) {
  const auto epoch = store_->GetHead()->position.epoch();
  Execute("UPDATE head SET system_identifier = system_identifier - 1");
  EXPECT_NE(Open()->GetHead()->position.epoch(), epoch);
}

TEST_F(PgStoreTest, RefusesANewerSchema) {
  Execute("INSERT INTO schema_migration (number, name) VALUES (9000, 'later')");
  const auto store = OpenPgStore({.url = url_});
  EXPECT_EQ(store.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(store.status().message()), HasSubstr("start a newer croft-control"));
}

TEST_F(PgStoreTest, SeveralInstancesMayStartAtOnce) {
  const std::string url = TestDatabase::Get().MakeDatabase();
  std::vector<std::future<absl::Status>> starts;
  for (int i = 0; i < 4; ++i) {
    starts.push_back(std::async(std::launch::async, [&] {
      const auto store = OpenPgStore({.url = url});
      return store.ok() ? domain::Resources(**store).CreateFirstResources() : store.status();
    }));
  }
  for (auto& start : starts) {
    const absl::Status status = start.get();
    EXPECT_TRUE(status.ok()) << status;
  }
  EXPECT_EQ(TestDatabase::Get().Select(url, "SELECT count(*) FROM resource"), "2");
}

TEST_F(PgStoreTest, SitesPoolsAndAccountsNeedAnOwner) {
  const Estate estate = MakeEstate(*store_);
  for (const ResourceType type :
       {ResourceType::kSite, ResourceType::kPool, ResourceType::kAccount}) {
    auto t = store_->Begin().value();
    const std::string collection(contract::Facts(type).collection);
    const auto row = MakeRow(*t, type, "farms/main/" + collection + "/a", estate.main, 0);
    EXPECT_EQ(t->Insert(row).code(), absl::StatusCode::kFailedPrecondition) << collection;
  }
}

TEST_F(PgStoreTest, ARowChangedByHandIsPassedOnAsItIs) {
  const Estate estate = MakeEstate(*store_);
  const auto site = Insert(*store_, estate, ResourceType::kSite, "a");
  Insert(*store_, estate, ResourceType::kSite, "b");
  Execute("UPDATE resource SET body = '\\xdeadbeef', change_id = 0 WHERE uid = " +
          std::to_string(site.uid));
  const auto chunk = store_->ReadSnapshotChunk(estate.main, node::v1::SITE, 0, 10).value();
  ASSERT_EQ(chunk.size(), 2U);
  EXPECT_EQ(chunk[0].body(), "\xde\xad\xbe\xef");
  EXPECT_EQ(store_->Find(site.name).value()->body, "\xde\xad\xbe\xef");
  EXPECT_EQ(store_->List({.type = ResourceType::kSite})->size(), 2U);
}

TEST_F(PgStoreTest, ALongDeltaComesInPiecesAndWhole) {
  const Estate estate = MakeEstate(*store_);
  constexpr int kCount = 5000;
  InTransaction(*store_, [&](Transaction& t) {
    const auto uids = t.NextUids(ResourceType::kAccount, kCount).value();
    std::vector<StoredResource> rows;
    for (const std::int64_t uid : uids) {
      StoredResource& row = rows.emplace_back();
      row.type = ResourceType::kAccount;
      row.uid = uid;
      row.name = "farms/main/accounts/u" + std::to_string(uid);
      row.farm_uid = estate.main;
      row.organization_uid = estate.root;
    }
    EXPECT_TRUE(t.InsertMany(rows)->empty());
  });
  const auto delta = DeltaSince(*store_, estate.main, 1);
  ASSERT_EQ(delta.size(), kCount);
  for (std::size_t i = 1; i < delta.size(); ++i) {
    ASSERT_LT(delta[i - 1].uid(), delta[i].uid());
  }
}

TEST_F(PgStoreTest, ADeltaIsFoundByIndexWhateverTheStatistics) {
  const Estate estate = MakeEstate(*store_);
  InTransaction(*store_, [&](Transaction& t) { EXPECT_TRUE(t.NextUid(ResourceType::kSite).ok()); });
  Execute(
      "INSERT INTO resource (type, uid, name, farm_uid, organization_uid, created_change_id, "
      "change_id, created_at, body) SELECT 7, 1000 + i, 'farms/main/accounts/u' || i, " +
      std::to_string(estate.main) + ", " + std::to_string(estate.root) +
      ", 1, 1, now(), '' FROM generate_series(1, 50000) i");
  const auto head = store_->GetHead()->position.revision();
  Insert(*store_, estate, ResourceType::kSite, "late");
  Execute("SELECT pg_stat_reset()");
  EXPECT_EQ(DeltaSince(*store_, estate.main, head).size(), 1U);
  const std::string scans = Select(
      "SELECT coalesce(sum(seq_tup_read), 0) FROM pg_stat_user_tables WHERE relname = 'resource' "
      "AND schemaname = current_schema()");
  EXPECT_LT(std::stoll(scans), 1000);
}

TEST_F(PgStoreTest, ATransactionWaitsForTheOtherAndSeesWhatItDid) {
  const Estate estate = MakeEstate(*store_);
  const auto site = Insert(*store_, estate, ResourceType::kSite, "a");
  auto first = store_->Begin().value();
  auto row = first->FindForUpdate(site.name).value().value();
  row.body = "first";
  ASSERT_TRUE(first->Update(row).ok());
  auto second = std::async(std::launch::async, [&] {
    auto t = store_->Begin().value();
    return t->FindForUpdate(site.name).value().value();
  });
  while (Select("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == "0") {
  }
  const auto committed = first->Commit({.who = "first"});
  ASSERT_TRUE(committed.ok());
  const StoredResource seen = second.get();
  EXPECT_EQ(seen.body, "first");
  EXPECT_EQ(seen.revision, committed->revision);
}

TEST_F(PgStoreTest, ABindingBeingTakenIsWaitedForAndThenRefused) {
  const Estate estate = MakeEstate(*store_);
  const auto a = Insert(*store_, estate, ResourceType::kSite, "a");
  const auto b = Insert(*store_, estate, ResourceType::kSite, "b");
  auto first = store_->Begin().value();
  ASSERT_TRUE(first->SetBindings(estate.main, a.uid, {"key1", "key2"}).ok());
  auto second = std::async(std::launch::async, [&] {
    auto t = store_->Begin().value();
    return t->SetBindings(estate.main, b.uid, {"key2", "key1"});
  });
  while (Select("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == "0") {
  }
  ASSERT_TRUE(first->Commit({.who = "first"}).ok());
  EXPECT_EQ(second.get().code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(PgStoreTest, ADeletedParentIsNoticedByWhoWaitedForIt) {
  const Estate estate = MakeEstate(*store_);
  const auto pool = Insert(*store_, estate, ResourceType::kPool, "p");
  auto first = store_->Begin().value();
  ASSERT_TRUE(first->Delete(first->FindForUpdate(pool.name).value().value()).ok());
  auto second = std::async(std::launch::async, [&] {
    auto t = store_->Begin().value();
    return t->Find(pool.name).value().has_value();
  });
  while (Select("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == "0") {
  }
  ASSERT_TRUE(first->Commit({.who = "first"}).ok());
  EXPECT_FALSE(second.get());
}

TEST_F(PgStoreTest, KilledConnectionsAreReplacedUnseen) {
  const Estate estate = MakeEstate(*store_);
  ASSERT_TRUE(store_->WaitForNotify(std::chrono::milliseconds(1)).value());
  KillConnections();
  EXPECT_TRUE(store_->Find("farms/main").value().has_value());
  KillConnections();
  Insert(*store_, estate, ResourceType::kSite, "a");
  EXPECT_FALSE(store_->WaitForNotify(std::chrono::milliseconds(100)).ok());
  EXPECT_TRUE(store_->WaitForNotify(std::chrono::milliseconds(100)).value());
  Insert(*store_, estate, ResourceType::kSite, "b");
  EXPECT_TRUE(store_->WaitForNotify(std::chrono::seconds(5)).value());
}

TEST_F(PgStoreTest, ANodeIsConnectedAsLongAsItsInstanceLives) {
  const Estate estate = MakeEstate(*store_);
  const auto row = Insert(*store_, estate, ResourceType::kNode, "n");
  const auto other = Open();
  ASSERT_TRUE(store_->WaitForNotify(std::chrono::milliseconds(1)).ok());
  ASSERT_TRUE(store_->WriteMarks({{.node_uid = row.uid, .connected = true}}).ok());
  EXPECT_TRUE(store_->ReadMarks(0)->front().connected);
  EXPECT_TRUE(other->ReadMarks(0)->front().connected);
  store_.reset();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (other->ReadMarks(0)->front().connected) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  }
}

TEST_F(PgStoreTest, ATransactionWhoseConnectionDiesLeavesNothing) {
  const Estate estate = MakeEstate(*store_);
  auto t = store_->Begin().value();
  ASSERT_TRUE(
      t->Insert(MakeRow(*t, ResourceType::kSite, "farms/main/sites/a", estate.main, estate.root))
          .ok());
  KillConnections();
  EXPECT_EQ(t->Commit({.who = "x"}).status().code(), absl::StatusCode::kUnavailable);
  t.reset();
  EXPECT_FALSE(store_->Find("farms/main/sites/a").value().has_value());
}

// A commit whose connection is lost half-way: the outcome is asked of the database, not guessed.
TEST_F(PgStoreTest, ACommitThatLosesItsConnectionIsLookedUp) {
  const Estate estate = MakeEstate(*store_);
  Execute(
      "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS "
      "$$ BEGIN PERFORM pg_sleep(20); RETURN NULL; END $$; "
      "CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON change DEFERRABLE INITIALLY DEFERRED "
      "FOR EACH ROW EXECUTE FUNCTION slow()");
  auto t = store_->Begin().value();
  ASSERT_TRUE(
      t->Insert(MakeRow(*t, ResourceType::kSite, "farms/main/sites/a", estate.main, estate.root))
          .ok());
  auto committed = std::async(std::launch::async, [&] { return t->Commit({.who = "x"}); });
  while (Select("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "0") {
  }
  KillConnections();
  const absl::Status status = committed.get().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("nothing was changed"));
  Execute("DROP TRIGGER slow ON change");
  EXPECT_FALSE(store_->Find("farms/main/sites/a").value().has_value());
  EXPECT_EQ(store_->GetHead()->position.revision(), 1);
}

// Resources end to end on the real thing: what the fake can't tell is whether the SQL agrees.
TEST_F(PgStoreTest, ResourcesWorkOnIt) {
  domain::Resources resources(*store_);
  ASSERT_TRUE(resources.CreateFirstResources().ok());
  const domain::Caller caller = domain::SystemCaller("tester");
  ASSERT_TRUE(resources.Create(caller, "", "main", v1::Farm(), {}).ok());
  v1::FileStore files;
  files.set_path("/srv/files");
  files.mutable_homes()->add_fan_out(75);
  files.mutable_homes()->add_fan_out(50);
  ASSERT_TRUE(resources.Create(caller, "farms/main", "files", files, {}).ok());
  domain::ImportRows batch;
  for (int i = 0; i < 1000; ++i) {
    batch.Add()->mutable_resource()->mutable_account()->set_name(
        "farms/main/accounts/" + (i % 100 == 99 ? "no good" : "user" + std::to_string(i)));
  }
  const auto first = Import(*store_, resources.access(), caller, batch, {});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->counts().created(), 990);
  EXPECT_EQ(first->errors_size(), 10);
  const auto second = Import(*store_, resources.access(), caller, batch, {});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->counts().created(), 0);
  EXPECT_EQ(second->counts().unchanged(), 990);
  const auto bob = resources.Create(caller, "farms/main", "bob", v1::Account(),
                                    {.request_id = "r", .request_fingerprint = "f"});
  ASSERT_TRUE(bob.ok()) << bob.status();
  const auto again = resources.Create(caller, "farms/main", "bob", v1::Account(),
                                      {.request_id = "r", .request_fingerprint = "f"});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->answer->ShortDebugString(), bob->answer->ShortDebugString());
  const auto read = resources.Get(caller, ResourceType::kAccount, "farms/main/accounts/bob");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ((*read)->ShortDebugString(), bob->answer->ShortDebugString());
}

TEST(PgStoreUpgrade, AdministratorsTokenOfTheFirstSchemaGoesOn) {
  TestDatabase& database = TestDatabase::Get();
  const std::string url = database.MakeDatabase();
  const std::string token = "croft_operator_00ff";
  database.Execute(url, std::string(AllMigrations().front().sql));
  database.Execute(url,
                   "CREATE TABLE schema_migration (number integer PRIMARY KEY, name text NOT NULL, "
                   "applied_at timestamptz NOT NULL DEFAULT now());"
                   "INSERT INTO schema_migration VALUES (1, '0001_first');"
                   "INSERT INTO operator_token (hash, who) VALUES ('" +
                       identity::HashToken(token) + "', 'administrator')");
  const auto store = OpenPgStore({.url = url});
  ASSERT_TRUE(store.ok()) << store.status();
  domain::Resources resources(**store);
  ASSERT_TRUE(resources.CreateFirstResources().ok());
  const SystemClock clock;
  const auto kept = domain::KeepAdministratorToken(**store, resources, clock, token);
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(*kept, token);
  const auto session = (*store)->FindOperatorToken(identity::HashToken(token)).value();
  ASSERT_TRUE(session.has_value());
  EXPECT_EQ(session->token_row.name, "tokens/administrator");
  const auto caller = resources.access().Identify(*session);
  ASSERT_TRUE(caller.ok()) << caller.status();
  EXPECT_TRUE(resources.Create(*caller, "", "main", v1::Farm(), {}).ok());
}

TEST(PgError, ErrorsKeepTheirMeaning) {
  const std::pair<const char*, absl::StatusCode> cases[] = {
      {"23505", absl::StatusCode::kAlreadyExists}, {"23503", absl::StatusCode::kFailedPrecondition},
      {"40001", absl::StatusCode::kAborted},       {"40P01", absl::StatusCode::kAborted},
      {"55P03", absl::StatusCode::kAborted},       {"57014", absl::StatusCode::kDeadlineExceeded},
      {"57P01", absl::StatusCode::kUnavailable},   {"25006", absl::StatusCode::kUnavailable},
      {"53300", absl::StatusCode::kUnavailable},   {"53100", absl::StatusCode::kResourceExhausted},
      {"42601", absl::StatusCode::kInternal},      {"", absl::StatusCode::kInternal},
  };
  for (const auto& [state, code] : cases) {
    EXPECT_EQ(CodeOfSqlState(state), code) << state;
  }
}

TEST(PgError, TellsTheWayOut) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"53100", "could not extend file", "make room"},
      {"", "FATAL:  sorry, too many clients already", "max_connections"},
      {"", "FATAL:  too many connections for role \"croft\"", "connection limit"},
      {"25006", "cannot execute INSERT in a read-only transaction", "takes no writes"},
      {"", "connection to server failed: session is read-only", "takes no writes"},
      {"", "could not connect: Connection refused", "goes on by itself"},
      {"57P01", "terminating connection", "goes on by itself"},
  };
  for (const auto& [state, text, way_out] : cases) {
    EXPECT_THAT(std::string(WayOut(state, text)), testing::HasSubstr(way_out)) << text;
  }
  EXPECT_EQ(WayOut("23505", "duplicate key value"), "");
}

TEST(PgStoreOpen, SaysThatTheDatabaseIsAway) {
  const auto store = OpenPgStore({.url = "host=/nowhere dbname=x"});
  EXPECT_EQ(store.status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace croft::control::store
