#include "node/replica/generations.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "node/replica/damage.h"
#include "node/replica/reader.h"
#include "node/replica/writer.h"
#include "proto/base/log.h"
#include "tests/unit/node/replica/records.h"
#include "tests/unit/node/replica/temp_directory.h"

namespace croft::node::replica {
namespace {

class GenerationsTest : public testing::Test {
 protected:
  GenerationsTest() { log::SetLevel(log::Level::kError); }

  // Commits one revision to the current generation.
  static void Write(const std::string& generation, std::int64_t revision) {
    const auto writer = *Writer::Open(generation);
    const auto transaction = *writer->Begin();
    v1::Position position;
    position.set_epoch(1);
    position.set_revision(revision);
    for (std::int64_t uid = 1; uid <= 200; ++uid) {
      ASSERT_TRUE(transaction
                      ->Apply(ASite(uid, revision, "s" + std::to_string(uid),
                                    {"h" + std::to_string(uid) + ".example"}),
                              false)
                      .ok());
    }
    ASSERT_TRUE(transaction->SetPosition(position).ok());
    ASSERT_TRUE(transaction->Commit().ok());
  }

  static std::int64_t RevisionOf(const std::string& generation) {
    return (*Reader::Open(generation))->GetPosition()->revision();
  }

  // Changes one byte of every body that says `text`.
  static void Damage(const std::string& generation, const std::string& text) {
    const std::string path = generation + "/data.mdb";
    std::ifstream in(path, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    int found = 0;
    for (std::size_t at = bytes.find(text); at != std::string::npos;
         at = bytes.find(text, at + 1)) {
      bytes[at] = '#';
      ++found;
    }
    ASSERT_GT(found, 0);
    std::ofstream(path, std::ios::binary) << bytes;
  }

  TempDirectory directory_;
};

TEST_F(GenerationsTest, BeginsWithAnEmptyOneAndFindsItAgain) {
  const auto first = *Generations::Open(directory_.path());
  Write(first.current(), 3);
  const auto again = *Generations::Open(directory_.path());
  EXPECT_EQ(again.current(), first.current());
  EXPECT_FALSE(again.fell_back());
  EXPECT_EQ(RevisionOf(again.current()), 3);
}

TEST_F(GenerationsTest, AWrongChecksumBringsBackTheOlderOne) {
  {
    auto generations = *Generations::Open(directory_.path());
    Write(generations.current(), 3);
    ASSERT_TRUE(generations.RefreshOlder().ok());
    Write(generations.current(), 4);
    Damage(generations.current(), "farms/main/sites/s77");
  }
  const auto generations = *Generations::Open(directory_.path());
  EXPECT_TRUE(generations.fell_back());
  EXPECT_EQ(RevisionOf(generations.current()), 3);
  EXPECT_EQ((*Reader::Open(generations.current()))->Count()->bindings, 200);
}

TEST_F(GenerationsTest, AReaderTellsAWrongChecksum) {
  const auto generations = *Generations::Open(directory_.path());
  Write(generations.current(), 3);
  Damage(generations.current(), "farms/main/sites/s77");
  const auto reader = *Reader::Open(generations.current());
  EXPECT_TRUE(absl::IsDataLoss(reader->FindRecord({v1::SITE, 77}).status()));
  EXPECT_TRUE(reader->FindRecord({v1::SITE, 10}).ok());
}

TEST_F(GenerationsTest, WithoutAnOlderOneItBeginsEmpty) {
  {
    const auto generations = *Generations::Open(directory_.path());
    Write(generations.current(), 3);
    Damage(generations.current(), "farms/main/sites/s77");
  }
  const auto generations = *Generations::Open(directory_.path());
  EXPECT_TRUE(generations.fell_back());
  EXPECT_EQ((*Writer::Open(generations.current()))->position().revision(), 0);
}

TEST_F(GenerationsTest, GarbageInsteadOfAFileIsSetAside) {
  {
    auto generations = *Generations::Open(directory_.path());
    Write(generations.current(), 3);
    ASSERT_TRUE(generations.RefreshOlder().ok());
    std::ofstream(generations.current() + "/data.mdb") << std::string(20000, 'x');
  }
  const auto generations = *Generations::Open(directory_.path());
  EXPECT_TRUE(generations.fell_back());
  EXPECT_EQ(RevisionOf(generations.current()), 3);
}

// A process that meets a page that is gone ends with the code that says so, and the next start does
// not meet it again.
TEST_F(GenerationsTest, ATruncatedFileEndsTheReaderAndIsSetAside) {
  {
    auto generations = *Generations::Open(directory_.path());
    Write(generations.current(), 3);
    ASSERT_TRUE(generations.RefreshOlder().ok());
  }
  const std::string current = Generations::Open(directory_.path())->current();
  const pid_t pid = ::fork();
  if (pid == 0) {
    const auto reader = *Reader::Open(current);
    (void)::truncate((current + "/data.mdb").c_str(), 8192);
    for (std::int64_t uid = 1; uid <= 200; ++uid) {
      (void)reader->FindRecord({v1::SITE, uid});
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), kExitReplicaDamaged);
  const auto generations = *Generations::Open(directory_.path());
  EXPECT_TRUE(generations.fell_back());
  EXPECT_NE(generations.current(), current);
  EXPECT_EQ(RevisionOf(generations.current()), 3);
}

// Whatever garbled pages say: no process dies of them but with the code that says so, once, and
// what is served afterwards is sound.
TEST_F(GenerationsTest, GarbledPagesAreSetAsideHoweverLmdbTakesThem) {
  constexpr unsigned kSeeds = 60;
  constexpr std::size_t kPage = 4096;
  {
    auto generations = *Generations::Open(directory_.path() + "/sound");
    Write(generations.current(), 3);
    ASSERT_TRUE(generations.RefreshOlder().ok());
  }
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const std::string path = directory_.path() + "/" + std::to_string(seed);
    std::filesystem::copy(
        directory_.path() + "/sound", path,
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
    const std::string file = path + "/current/data.mdb";
    std::mt19937 random(seed);
    std::string garbage(kPage * (1 + random() % 8), '\0');
    std::generate(garbage.begin(), garbage.end(), [&] { return static_cast<char>(random()); });
    const auto pages = std::filesystem::file_size(file) / kPage;
    std::fstream data(file, std::ios::binary | std::ios::in | std::ios::out);
    data.seekp(static_cast<std::streamoff>((2 + random() % (pages - 2)) * kPage));
    data.write(garbage.data(), static_cast<std::streamsize>(garbage.size()));
    data.close();
    int status = 0;
    int starts = 0;
    do {
      const pid_t pid = ::fork();
      if (pid == 0) {
        log::SetLevel(log::Level::kError);
        const auto generations = Generations::Open(path);
        ::_exit(generations.ok() && VerifyGeneration(generations->current()).ok() ? 0 : 1);
      }
      ::waitpid(pid, &status, 0);
      ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    } while (WEXITSTATUS(status) == kExitReplicaDamaged && ++starts < 3);
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
}

TEST_F(GenerationsTest, DoesNotCopyBetweenTwoRevisions) {
  auto generations = *Generations::Open(directory_.path());
  const auto writer = *Writer::Open(generations.current());
  const auto transaction = *writer->Begin();
  ASSERT_TRUE(transaction->SetUnfinishedSnapshot(v1::SnapshotRange()).ok());
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_EQ(generations.RefreshOlder().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(GenerationsTest, AFullDiskIsNamedAndTheReplicaStaysAsItWas) {
  const std::string disk = directory_.path() + "/disk";
  ASSERT_EQ(::mkdir(disk.c_str(), 0750), 0);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=3m") != 0) {
    GTEST_SKIP() << "needs the right to mount";
  }
  {
    const auto writer = *Writer::Open(disk);
    absl::Status status;
    std::int64_t committed = 0;
    for (std::int64_t revision = 1; status.ok() && revision < 100; ++revision) {
      const auto transaction = *writer->Begin();
      for (std::int64_t i = 0; i < 100; ++i) {
        status.Update(
            transaction->Apply(ASite(revision * 1000 + i, revision,
                                     std::string(60, 'n') + std::to_string(revision * 1000 + i)),
                               false));
      }
      v1::Position position;
      position.set_revision(revision);
      status.Update(transaction->SetPosition(position));
      status.Update(transaction->Commit());
      committed = status.ok() ? revision : committed;
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_NE(status.message().find("disk full: "), std::string::npos) << status.message();
    EXPECT_GT(committed, 0);
    EXPECT_EQ(writer->position().revision(), committed);
    const auto reader = *Reader::Open(disk);
    EXPECT_EQ(reader->GetPosition()->revision(), committed);
    EXPECT_EQ(reader->Count()->records, committed * 100);
  }
  ::umount(disk.c_str());
}

}  // namespace
}  // namespace croft::node::replica
