#include "node/worker/http/etag.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace croft::node::worker::http {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(Etag, DiffersBySizeTimeAndInode) {
  const FileState file{.size = 10, .mtime_ns = 5 * kSecond, .inode = 7};
  const std::string tag = BuildEtag(file, 100 * kSecond);
  EXPECT_EQ(tag, "\"a-12a05f200-7\"");
  FileState other = file;
  other.size = 11;
  EXPECT_NE(BuildEtag(other, 100 * kSecond), tag);
  other = file;
  other.mtime_ns += 1;
  EXPECT_NE(BuildEtag(other, 100 * kSecond), tag);
  other = file;
  other.inode = 8;
  EXPECT_NE(BuildEtag(other, 100 * kSecond), tag);
}

TEST(Etag, IsWeakWhileTheFileMayStillChangeWithinItsTime) {
  const FileState file{.size = 1, .mtime_ns = 100 * kSecond, .inode = 1};
  EXPECT_TRUE(BuildEtag(file, 101 * kSecond).starts_with("W/\""));
  EXPECT_TRUE(BuildEtag(file, 50 * kSecond).starts_with("W/\""));
  EXPECT_TRUE(BuildEtag(file, 102 * kSecond).starts_with("\""));
}

TEST(Etag, ComparesStronglyAndWeakly) {
  EXPECT_TRUE(StrongMatch("\"1\"", "\"1\""));
  EXPECT_FALSE(StrongMatch("W/\"1\"", "W/\"1\""));
  EXPECT_FALSE(StrongMatch("W/\"1\"", "\"1\""));
  EXPECT_FALSE(StrongMatch("", ""));
  EXPECT_TRUE(WeakMatch("W/\"1\"", "\"1\""));
  EXPECT_TRUE(WeakMatch("W/\"1\"", "W/\"1\""));
  EXPECT_FALSE(WeakMatch("W/\"1\"", "W/\"2\""));
}

TEST(Etag, TakesTagsOffAListUntilSomethingIsNoTag) {
  std::string_view list = " \"a\" , W/\"b,c\",, \"\" , d, \"e\"";
  std::vector<std::string_view> tags;
  for (std::string_view tag = TakeEtag(list); !tag.empty(); tag = TakeEtag(list)) {
    tags.push_back(tag);
  }
  EXPECT_THAT(tags, testing::ElementsAre("\"a\"", "W/\"b,c\"", "\"\""));
  for (std::string_view bad : {"", ",", "\"", "W/", "W/\"", "\"a", "a\"", "w/\"a\"", "\"a b\""}) {
    EXPECT_EQ(TakeEtag(bad), "");
  }
}

}  // namespace
}  // namespace croft::node::worker::http
