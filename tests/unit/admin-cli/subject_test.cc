#include "admin-cli/subject.h"

#include <gtest/gtest.h>

#include <string>

#include "admin-cli/sparkline.h"

namespace croft::admin_cli {
namespace {

TEST(Subject, NamesAnObjectByTypeOrInFull) {
  EXPECT_EQ(*ParseObject("site/shop", "main"), "farms/main/sites/shop");
  EXPECT_EQ(*ParseObject("sites/shop", "x"), "farms/x/sites/shop");
  EXPECT_EQ(*ParseObject("farms/main/pools/php", "x"), "farms/main/pools/php");
  EXPECT_EQ(*ParseObject("farms/main", "x"), "farms/main");
  EXPECT_EQ(*ParseObject("platform", "x"), "platform");
  EXPECT_FALSE(ParseObject("shop", "main").ok());
  EXPECT_FALSE(ParseObject("a/b/c", "main").ok());
  EXPECT_EQ(*SubjectOf({"site", "shop"}, "main", ""), "farms/main/sites/shop");
  EXPECT_EQ(*SubjectOf({}, "main", ""), "");
  EXPECT_EQ(SubjectOf({"shop"}, "main", "how").status().message(), "how");
}

TEST(Subject, SinceIsAgoOrATime) {
  google::protobuf::Timestamp now;
  now.set_seconds(1'000'000);
  EXPECT_EQ(ParseSince("2h", now)->seconds(), 1'000'000 - 7200);
  EXPECT_EQ(ParseSince("1970-01-02T00:00:00Z", now)->seconds(), 86'400);
  EXPECT_EQ(ParseSince("100d", now)->seconds(), 0);
  EXPECT_FALSE(ParseSince("yesterday", now).ok());
  EXPECT_FALSE(ParseSince("", now).ok());
}

TEST(Subject, SelectorsBecomeFilters) {
  EXPECT_EQ(*FilterOf("", ""), "");
  EXPECT_EQ(*FilterOf("", "app=shop,tier=we\"b"),
            "labels.app = \"shop\" AND labels.tier = \"we\\\"b\"");
  EXPECT_EQ(*FilterOf("a = 1 OR b = 2", "app=shop"), "labels.app = \"shop\" AND (a = 1 OR b = 2)");
  EXPECT_EQ(*FilterOf("", "app!=shop, owner"), "labels.app != \"shop\" AND labels:owner");
  EXPECT_FALSE(FilterOf("", "app,").ok());
  EXPECT_FALSE(FilterOf("", "!=x").ok());
  EXPECT_FALSE(FilterOf("", "=x").ok());
}

TEST(Subject, NumbersAreAboveZero) {
  EXPECT_EQ(*ParseNumber("4711", "a change"), 4711);
  for (const char* text : {"", "0", "-1", "12x", "99999999999999999999"}) {
    EXPECT_FALSE(ParseNumber(text, "a change").ok()) << text;
  }
}

TEST(Sparkline, ScalesToTheLargestAndShowsWhatIsMissing) {
  EXPECT_EQ(Sparkline({0, 7, std::nullopt, 14}, 10), "▁▅ █");
  EXPECT_EQ(Sparkline({1, 1, 3, 3}, 2), "▃█");
  EXPECT_EQ(Sparkline({0, 0}, 5), "▁▁");
  EXPECT_EQ(Sparkline({}, 5), "");
}

}  // namespace
}  // namespace croft::admin_cli
