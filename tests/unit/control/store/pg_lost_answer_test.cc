// What a caller is told when PostgreSQL's answer is lost or does not come: never more than is true,
// and within bounded time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <sstream>

#include "control/store/pg_store.h"
#include "tests/unit/control/store/cutting_proxy.h"
#include "tests/unit/control/store/store_fixture.h"
#include "tests/unit/control/store/test_database.h"

namespace croft::control::store {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using Loss = CuttingProxy::Loss;

constexpr char kSite[] = "farms/main/sites/a";

class LostAnswerTest : public testing::Test {
 protected:
  LostAnswerTest() : url_(TestDatabase::Get().MakeDatabase()), proxy_(url_) {
    auto store = OpenPgStore({.url = proxy_.url(), .acquire_timeout = milliseconds(1000)});
    EXPECT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    estate_ = MakeEstate(*store_);
  }

  // A change whose COMMIT, or the answer to it, is lost.
  absl::StatusOr<CommittedChange> Change(Loss loss) {
    auto t = store_->Begin().value();
    const auto row = MakeRow(*t, ResourceType::kSite, kSite, estate_.main, estate_.root);
    EXPECT_TRUE(t->Insert(row).ok());
    proxy_.LoseNext(loss);
    return t->Commit({.who = "x", .request_id = "r", .answer = "answer"});
  }

  const std::string url_;
  CuttingProxy proxy_;
  std::unique_ptr<Store> store_;
  Estate estate_;
};

TEST_F(LostAnswerTest, ACommitThatWasCarriedOutIsReportedAsSuch) {
  const auto change = Change(Loss::kAnswer);
  ASSERT_TRUE(change.ok()) << change.status();
  const auto position = store_->GetHead()->position;
  EXPECT_EQ(position.revision(), change->revision);
  EXPECT_EQ(position.tag(), change->tag);
  EXPECT_TRUE(store_->Find(kSite)->has_value());
  EXPECT_EQ(store_->FindRequest("x", "r").value()->answer, "answer");
}

TEST_F(LostAnswerTest, ACommitThatDidNotArriveChangedNothingAndSaysSo) {
  const absl::Status status = Change(Loss::kCommit).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("nothing was changed"));
  EXPECT_EQ(store_->GetHead()->position.revision(), 1);
  EXPECT_FALSE(store_->Find(kSite)->has_value());
  EXPECT_FALSE(store_->FindRequest("x", "r")->has_value());
  EXPECT_TRUE(Change(Loss::kNothing).ok());
}

TEST_F(LostAnswerTest, ACommitNobodyCanBeAskedAboutIsInDoubtUntilItsRequestIsRepeated) {
  proxy_.SetRefusing(true);
  const absl::Status status = Change(Loss::kAnswer).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnknown) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("ask again with the same request id"));
  proxy_.SetRefusing(false);
  EXPECT_EQ(store_->FindRequest("x", "r").value()->answer, "answer");
}

// Stops every process of the server, as a hung machine or disk would.
class StoppedServer {
 public:
  explicit StoppedServer(const std::string& url) {
    pids_.push_back(TestDatabase::Get().server_pid());
    std::istringstream backends(TestDatabase::Get().Select(
        url,
        "SELECT string_agg(pid::text, ' ') FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        " AND backend_type = 'client backend'"));
    for (pid_t pid = 0; backends >> pid;) {
      pids_.push_back(pid);
    }
    Signal(SIGSTOP);
  }
  ~StoppedServer() { Signal(SIGCONT); }

 private:
  void Signal(int number) {
    for (const pid_t pid : pids_) {
      ::kill(pid, number);
    }
  }
  std::vector<pid_t> pids_;
};

TEST(StoppedServerTest, CallsEndAndWorkAgainOnceItGoesOn) {
  const std::string url = TestDatabase::Get().MakeDatabase();
  PgOptions options{.url = url};
  options.connect_timeout = milliseconds(2000);
  options.answer_timeout = milliseconds(500);
  const auto store = OpenPgStore(options).value();
  MakeEstate(*store);
  auto begun = store->Begin().value();
  {
    const StoppedServer stopped(url);
    const auto start = std::chrono::steady_clock::now();
    const absl::Status commit = begun->Commit({.who = "x"}).status();
    EXPECT_EQ(commit.code(), absl::StatusCode::kUnavailable) << commit;
    EXPECT_THAT(std::string(commit.message()), HasSubstr("no answer within 500 ms"));
    EXPECT_EQ(store->Find("farms/main").status().code(), absl::StatusCode::kUnavailable);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));
  }
  EXPECT_TRUE(store->Find("farms/main")->has_value());
  EXPECT_EQ(store->GetHead()->position.revision(), 1);
}

}  // namespace
}  // namespace croft::control::store
