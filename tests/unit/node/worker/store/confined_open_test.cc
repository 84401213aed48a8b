#include "node/worker/store/confined_open.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

namespace croft::node::worker::store {
namespace {

namespace fs = std::filesystem;

void Write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

class ConfinedOpenTest : public testing::Test {
 protected:
  ConfinedOpenTest() {
    std::string pattern = (fs::temp_directory_path() / "croft-confined-XXXXXX").string();
    base_ = fs::canonical(mkdtemp(pattern.data()));
    Write(base_ / "outside.txt", "outside");
    Write(base_ / "store/a/page.txt", "page");
    Write(base_ / "store/a/sub/inner.txt", "inner");
    Write(base_ / "store/b/secret.txt", "secret");
    const auto link = [&](const char* target, const char* name) {
      fs::create_symlink(target, base_ / "store/a" / name);
    };
    link("page.txt", "inside");
    link("sub", "subdir");
    link("sub/../page.txt", "dots-inside");
    link("../b/secret.txt", "neighbour");
    link("../../outside.txt", "above-store");
    link("/etc/passwd", "absolute");
    link("loop", "loop");
    link("/proc/self/root/etc/passwd", "proc");
    link("/proc/self/fd/0", "magic");
    fs::create_directory_symlink("a", base_ / "store/link-root");
    directory_ = OpenStoreDirectory((base_ / "store").string());
  }
  ~ConfinedOpenTest() override { fs::remove_all(base_); }

  int ErrorOf(const std::string& root, const std::string& below) {
    return OpenConfined(directory_.fd.get(), {root, below}, O_RDONLY | O_NONBLOCK,
                        Blocking::kAllowed)
        .error;
  }

  fs::path base_;
  Opened directory_;
};

TEST_F(ConfinedOpenTest, OpensFilesAndSymlinksInsideTheRoot) {
  ASSERT_EQ(directory_.error, 0);
  for (const char* name :
       {"page.txt", "sub/inner.txt", "inside", "subdir/inner.txt", "dots-inside", "sub", ""}) {
    EXPECT_EQ(ErrorOf("a", name), 0) << name;
  }
  EXPECT_EQ(ErrorOf("", "a/page.txt"), 0);
  EXPECT_EQ(ErrorOf("", ""), 0);
}

TEST_F(ConfinedOpenTest, NeverLeavesTheRootEvenForItsNeighbour) {
  for (const char* name : {"neighbour", "above-store", "absolute", "proc", "magic"}) {
    EXPECT_EQ(ErrorOf("a", name), EXDEV) << name;
  }
  EXPECT_EQ(ErrorOf("a", "../b/secret.txt"), EXDEV);
  EXPECT_EQ(ErrorOf("", "../outside.txt"), EXDEV);
  EXPECT_EQ(ErrorOf("a", "loop"), ELOOP);
  EXPECT_EQ(ErrorOf("a", "none"), ENOENT);
  EXPECT_EQ(ErrorOf("a", "page.txt/x"), ENOTDIR);
}

TEST_F(ConfinedOpenTest, ReachesNoRootThroughASymlink) {
  // The root itself must be plain; that its files are reached only through it does not help.
  EXPECT_EQ(ErrorOf("link-root", "page.txt"), ELOOP);
  fs::create_directory_symlink(base_ / "store", base_ / "store-link");
  EXPECT_EQ(OpenStoreDirectory((base_ / "store-link").string()).error, ELOOP);
  EXPECT_EQ(OpenStoreDirectory((base_ / "nothing").string()).error, ENOENT);
  EXPECT_EQ(OpenStoreDirectory((base_ / "outside.txt").string()).error, ENOTDIR);
}

TEST_F(ConfinedOpenTest, AnswersFromTheCachesOrSaysThatItCannot) {
  EXPECT_EQ(ErrorOf("a", "page.txt"), 0);
  const Opened cached =
      OpenConfined(directory_.fd.get(), {"a", "page.txt"}, O_RDONLY, Blocking::kNever);
  EXPECT_TRUE(cached.error == 0 || cached.error == EAGAIN) << cached.error;
  // An escape is for a thread to decide.
  EXPECT_EQ(OpenConfined(directory_.fd.get(), {"a", "absolute"}, O_RDONLY, Blocking::kNever).error,
            EAGAIN);
}

TEST_F(ConfinedOpenTest, DoesNotWaitForAWriterOfAFifo) {
  ASSERT_EQ(::mkfifo((base_ / "store/a/fifo").c_str(), 0644), 0);
  EXPECT_EQ(ErrorOf("a", "fifo"), 0);
}

}  // namespace
}  // namespace croft::node::worker::store
