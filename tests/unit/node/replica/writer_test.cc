#include "node/replica/writer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <thread>

#include "node/replica/reader.h"
#include "tests/unit/node/replica/records.h"
#include "tests/unit/node/replica/temp_directory.h"

namespace croft::node::replica {
namespace {

v1::Position At(std::int64_t revision) {
  v1::Position position;
  position.set_epoch(7);
  position.set_revision(revision);
  position.set_tag(static_cast<std::uint64_t>(revision) * 31);
  return position;
}

class ReplicaTest : public testing::Test {
 protected:
  ReplicaTest() { Open(); }

  void Open() {
    reader_.reset();
    writer_.reset();
    writer_ = *Writer::Open(directory_.path());
    reader_ = *Reader::Open(directory_.path());
  }

  void Apply(const std::vector<v1::Record>& records, bool force = false) {
    const auto transaction = *writer_->Begin();
    for (const v1::Record& record : records) {
      ASSERT_TRUE(transaction->Apply(record, force).ok());
    }
    ASSERT_TRUE(transaction->Commit().ok());
  }

  std::optional<std::int64_t> SiteNamed(const std::string& id) const {
    return *reader_->FindUid(v1::SITE, "farms/main/sites/" + id);
  }
  std::optional<std::int64_t> SiteAt(const std::string& host) const {
    return *reader_->FindBinding(BindingKeyOf(host));
  }

  TempDirectory directory_;
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<Reader> reader_;
};

TEST_F(ReplicaTest, FindsARecordByUidNameAndBinding) {
  Apply({ASite(4, 9, "shop", {"shop.example"})});
  EXPECT_EQ((*reader_->FindRecord({v1::SITE, 4}))->revision, 9);
  EXPECT_EQ((*reader_->FindRecordByName(v1::SITE, "farms/main/sites/shop"))->body,
            SiteBody("shop", {"shop.example"}));
  EXPECT_EQ(SiteAt("shop.example"), 4);
  EXPECT_EQ(SiteAt("other.example"), std::nullopt);
  EXPECT_EQ(*reader_->FindRecord({v1::POOL, 4}), std::nullopt);
}

TEST_F(ReplicaTest, KeepsWhatItHoldsAcrossAReopening) {
  const auto transaction = *writer_->Begin();
  v1::SnapshotRange range;
  range.set_type(v1::SITE);
  range.set_through(5);
  v1::RecordResult refused;
  refused.set_type(v1::POOL);
  refused.set_uid(3);
  ASSERT_TRUE(transaction->SetPosition(At(12)).ok());
  ASSERT_TRUE(transaction->SetUnfinishedSnapshot(range).ok());
  ASSERT_TRUE(transaction->SetPartialDelta(At(13)).ok());
  ASSERT_TRUE(transaction->SetQuarantine(refused).ok());
  ASSERT_TRUE(transaction->Commit().ok());
  Open();
  EXPECT_EQ(writer_->position().revision(), 12);
  EXPECT_EQ(writer_->unfinished_snapshot()->through(), 5);
  EXPECT_EQ(writer_->partial_delta()->revision(), 13);
  EXPECT_EQ(writer_->quarantine().at(0).uid(), 3);
  EXPECT_EQ(reader_->GetPosition()->revision(), 12);
}

TEST_F(ReplicaTest, AnotherIsOpenedAndClosedWhileOneIsWritten) {
  const auto transaction = *writer_->Begin();
  const TempDirectory other;
  EXPECT_TRUE(Writer::Open(other.path()).ok());
}

// The last reader of one thread closes the environment that another is about to join.
TEST_F(ReplicaTest, ReadersOfSeveralThreadsComeAndGo) {
  writer_.reset();
  reader_.reset();
  const auto come_and_go = [this] {
    for (int i = 0; i < 200; ++i) {
      const auto reader = Reader::Open(directory_.path());
      ASSERT_TRUE(reader.ok()) << reader.status();
      ASSERT_TRUE((*reader)->GetPosition().ok());
    }
  };
  std::thread other(come_and_go);
  come_and_go();
  other.join();
}

TEST_F(ReplicaTest, ADestroyedTransactionLeavesNoTrace) {
  {
    const auto transaction = *writer_->Begin();
    ASSERT_TRUE(transaction->Apply(ASite(1, 1, "a", {"a.example"}), false).ok());
    ASSERT_TRUE(transaction->SetPosition(At(1)).ok());
    EXPECT_EQ(SiteNamed("a"), std::nullopt);
  }
  EXPECT_EQ(reader_->Count()->records, 0);
  EXPECT_EQ(writer_->position().revision(), 0);
}

TEST_F(ReplicaTest, AnOlderVersionIsIgnoredUnlessForced) {
  Apply({ASite(1, 5, "new")});
  Apply({ASite(1, 4, "old"), ASite(1, 5, "same")});
  EXPECT_EQ(SiteNamed("new"), 1);
  Apply({ASite(1, 4, "old")}, true);
  EXPECT_EQ(SiteNamed("old"), 1);
  EXPECT_EQ(reader_->Count()->names, 1);
}

TEST_F(ReplicaTest, ARenameSwapEndsRightInEitherOrder) {
  for (const bool reversed : {false, true}) {
    const std::int64_t revision = reversed ? 30 : 10;
    Apply({ASite(1, revision, "a", {"a.example"}), ASite(2, revision, "b", {"b.example"})});
    std::vector<v1::Record> swap{ASite(1, revision + 1, "b", {"b.example"}),
                                 ASite(2, revision + 1, "a", {"a.example"})};
    if (reversed) {
      std::swap(swap[0], swap[1]);
    }
    Apply(swap);
    EXPECT_EQ(SiteNamed("a"), 2);
    EXPECT_EQ(SiteNamed("b"), 1);
    EXPECT_EQ(SiteAt("a.example"), 2);
    EXPECT_EQ(SiteAt("b.example"), 1);
    EXPECT_EQ(reader_->Count()->bindings, 2);
  }
}

TEST_F(ReplicaTest, ADeletionDoesNotTakeTheNameOfItsSuccessor) {
  Apply({ASite(1, 1, "a", {"a.example"})});
  Apply({ASite(2, 3, "a", {"a.example"}), ADeletion(v1::SITE, 1, 2)});
  EXPECT_EQ(SiteNamed("a"), 2);
  EXPECT_EQ(SiteAt("a.example"), 2);
}

TEST_F(ReplicaTest, TheLaterClaimOfABindingWins) {
  Apply({ASite(1, 9, "later", {"x.example"})});
  Apply({ASite(2, 8, "earlier", {"x.example"})});
  EXPECT_EQ(SiteAt("x.example"), 1);
  Apply({ASite(3, 10, "latest", {"x.example"})});
  EXPECT_EQ(SiteAt("x.example"), 3);
}

TEST_F(ReplicaTest, DeletesTheGapsOfASnapshotsRange) {
  Apply({ASite(1, 1, "a"), ASite(2, 1, "b"), ASite(3, 1, "c"), ASite(9, 1, "z")});
  v1::SnapshotRange range;
  range.set_type(v1::SITE);
  range.set_after(1);
  range.set_through(5);
  const auto transaction = *writer_->Begin();
  const auto deleted = *transaction->DeleteGaps(range, {3});
  ASSERT_TRUE(transaction->Commit().ok());
  ASSERT_EQ(deleted.size(), 1U);
  EXPECT_EQ(deleted[0].uid, 2);
  EXPECT_EQ(reader_->Count()->names, 3);
}

TEST_F(ReplicaTest, ListsEachEndpointOnce) {
  Apply({ASite(1, 1, "a", {"a.example", "b.example"}), ASite(2, 1, "b", {"c.example"})});
  const auto endpoints = *reader_->ListEndpoints();
  ASSERT_EQ(endpoints.size(), 1U);
  EXPECT_EQ(endpoints[0], BindingKeyOf("a.example").substr(0, 18));
}

TEST_F(ReplicaTest, IsReadableByItsGroupOnly) {
  struct stat status {};
  ASSERT_EQ(::stat((directory_.path() + "/data.mdb").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
  ASSERT_EQ(::stat((directory_.path() + "/lock.mdb").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0660U);
}

TEST_F(ReplicaTest, ASecondWriterInTheProcessIsRefused) {
  EXPECT_EQ(Writer::Open(directory_.path()).status().code(), absl::StatusCode::kFailedPrecondition);
}

// Runs `body` in a process of its own; its wait status.
int InChild(const std::function<void()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

TEST(ReplicaCrash, AKilledWriterLeavesWholeRevisions) {
  const TempDirectory directory;
  for (int round = 0; round < 5; ++round) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      const auto writer = *Writer::Open(directory.path());
      for (std::int64_t revision = writer->position().revision() + 1;; ++revision) {
        const auto transaction = *writer->Begin();
        for (std::int64_t uid = 1; uid <= 20; ++uid) {
          (void)transaction->Apply(ASite(uid, revision, "s" + std::to_string(uid)), false);
        }
        (void)transaction->SetPosition(At(revision));
        (void)transaction->Commit();
      }
    }
    // As long as it takes to commit something more.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    std::int64_t seen = 0;
    while (seen < 3 * (round + 1) && std::chrono::steady_clock::now() < deadline) {
      if (const auto reader = Reader::Open(directory.path()); reader.ok()) {
        seen = (*reader)->GetPosition()->revision();
      }
    }
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    const auto reader = *Reader::Open(directory.path());
    const std::int64_t revision = reader->GetPosition()->revision();
    EXPECT_GE(revision, seen);
    EXPECT_TRUE(reader
                    ->ForEach(v1::SITE,
                              [&](std::int64_t, const Reader::Found& found) {
                                EXPECT_EQ(found.revision, revision);
                                return true;
                              })
                    .ok());
    EXPECT_EQ(reader->Count()->records, 20);
  }
}

// A file may not grow past the limit, as on a full disk.
TEST(ReplicaCrash, AFailingWriteLeavesTheOldState) {
  const TempDirectory directory;
  const int status = InChild([&] {
    const auto writer = *Writer::Open(directory.path());
    auto transaction = *writer->Begin();
    (void)transaction->Apply(ASite(1, 1, "a"), false);
    (void)transaction->SetPosition(At(1));
    if (!transaction->Commit().ok()) {
      ::_exit(1);
    }
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{256 * 1024, 256 * 1024};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    transaction = *writer->Begin();
    absl::Status failed;
    for (std::int64_t uid = 2; uid < 20000 && failed.ok(); ++uid) {
      failed.Update(transaction->Apply(ASite(uid, 2, "s" + std::to_string(uid)), false));
    }
    failed.Update(transaction->SetPosition(At(2)));
    failed.Update(transaction->Commit());
    transaction.reset();
    const bool old_state = writer->position().revision() == 1;
    ::_exit(!failed.ok() && old_state ? 0 : 2);
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const auto reader = *Reader::Open(directory.path());
  EXPECT_EQ(reader->GetPosition()->revision(), 1);
  EXPECT_EQ(reader->Count()->records, 1);
}

}  // namespace
}  // namespace croft::node::replica
