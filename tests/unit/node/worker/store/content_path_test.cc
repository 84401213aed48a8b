#include "node/worker/store/content_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

namespace croft::node::worker::store {
namespace {

std::string Show(std::string_view root, std::string_view path, std::size_t strip) {
  const std::optional<ContentPath> made = MakeContentPath(root, path, strip);
  return made.has_value() ? made->root + "|" + made->below : "none";
}

TEST(ContentPath, JoinsTheRootAndWhatTheMountLeaves) {
  EXPECT_EQ(Show("sites/a", "/x/y.html", 0), "sites/a|x/y.html");
  EXPECT_EQ(Show("homes/1/bob", "/~bob/pic.jpg", 5), "homes/1/bob|pic.jpg");
  EXPECT_EQ(Show("sites/a", "/", 0), "sites/a|");
  EXPECT_EQ(Show("sites/a", "/docs", 5), "sites/a|");
  EXPECT_EQ(Show("sites/a", "/docs/", 5), "sites/a|");
  EXPECT_EQ(Show("", "/x/", 0), "|x");
  EXPECT_EQ(Show("a", "/...", 0), "a|...");
}

TEST(ContentPath, RefusesWhatCouldLeaveTheRoot) {
  EXPECT_EQ(Show("..", "/x", 0), "none");
  EXPECT_EQ(Show("a/../b", "/x", 0), "none");
  EXPECT_EQ(Show("/etc", "/x", 0), "none");
  EXPECT_EQ(Show("a//b", "/x", 0), "none");
  EXPECT_EQ(Show("a/", "/x", 0), "none");
  EXPECT_EQ(Show("a", "/../x", 0), "none");
  EXPECT_EQ(Show("a", "/x/..", 0), "none");
  EXPECT_EQ(Show("a", "/./x", 0), "none");
  EXPECT_EQ(Show("a", "//x", 0), "none");
  EXPECT_EQ(Show("a", std::string_view("/x\0y", 4), 0), "none");
  EXPECT_EQ(Show(std::string_view("a\0", 2), "/x", 0), "none");
}

TEST(ContentPath, RefusesAMountThatDoesNotFitThePath) {
  EXPECT_EQ(Show("a", "/docs", 6), "none");
  EXPECT_EQ(Show("a", "/docs", 3), "none");
  EXPECT_EQ(Show("a", "", 0), "a|");
  EXPECT_EQ(Show("a", "x", 0), "none");
}

}  // namespace
}  // namespace croft::node::worker::store
