#include "node/worker/http/preconditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace croft::node::worker::http {
namespace {

// The file: tag "v2", changed at 08:49:37.
constexpr Validators kFile{.etag = "\"v2\"", .last_modified = 784111777, .strong = true};
constexpr const char* kBefore = "Sun, 06 Nov 1994 08:49:36 GMT";
constexpr const char* kAt = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr const char* kAfter = "Sun, 06 Nov 1994 08:49:38 GMT";

struct Case {
  std::string name;
  ConditionalHeaders headers;
  Precondition expected;
};

TEST(Preconditions, FollowTheOrderOfRfc9110) {
  using enum Precondition;
  const std::vector<Case> cases = {
      {"nothing", {}, kProceed},
      {"if-match same", {.if_match = "\"v1\", \"v2\""}, kProceed},
      {"if-match other", {.if_match = "\"v1\""}, kFailed},
      {"if-match any", {.if_match = "*"}, kProceed},
      {"if-match weak never matches", {.if_match = "W/\"v2\""}, kFailed},
      {"if-match garbage", {.if_match = "v2"}, kFailed},
      {"if-match wins over if-unmodified-since",
       {.if_match = "\"v2\"", .if_unmodified_since = kBefore},
       kProceed},
      {"unmodified since after", {.if_unmodified_since = kAfter}, kProceed},
      {"unmodified since at", {.if_unmodified_since = kAt}, kProceed},
      {"unmodified since before", {.if_unmodified_since = kBefore}, kFailed},
      {"unmodified since garbage", {.if_unmodified_since = "now"}, kProceed},
      {"none-match same", {.if_none_match = "\"v2\""}, kNotModified},
      {"none-match weak matches", {.if_none_match = "W/\"v2\""}, kNotModified},
      {"none-match any", {.if_none_match = "*"}, kNotModified},
      {"none-match other", {.if_none_match = "\"v1\""}, kProceed},
      {"none-match wins over if-modified-since",
       {.if_none_match = "\"v1\"", .if_modified_since = kAfter},
       kProceed},
      {"modified since before", {.if_modified_since = kBefore}, kProceed},
      {"modified since at", {.if_modified_since = kAt}, kNotModified},
      {"modified since after", {.if_modified_since = kAfter}, kNotModified},
      {"modified since garbage", {.if_modified_since = "never"}, kProceed},
      {"failed before not modified", {.if_match = "\"v1\"", .if_none_match = "\"v2\""}, kFailed},
      {"if-match holds, then none-match",
       {.if_match = "\"v2\"", .if_none_match = "\"v2\""},
       kNotModified},
      {"unmodified holds, then modified since",
       {.if_modified_since = kAt, .if_unmodified_since = kAt},
       kNotModified},
  };
  for (const Case& test : cases) {
    EXPECT_EQ(Evaluate(test.headers, kFile), test.expected) << test.name;
  }
}

TEST(Preconditions, WithoutTagMatchOnlyTheStar) {
  const Validators untagged{.etag = "", .last_modified = 784111777, .strong = true};
  EXPECT_EQ(Evaluate({.if_none_match = "\"\""}, untagged), Precondition::kProceed);
  EXPECT_EQ(Evaluate({.if_match = "\"\""}, untagged), Precondition::kFailed);
  EXPECT_EQ(Evaluate({.if_none_match = "*"}, untagged), Precondition::kNotModified);
}

TEST(Preconditions, IfRangeWantsAStrongValidator) {
  const Validators weak{.etag = "W/\"v2\"", .last_modified = 784111777, .strong = false};
  EXPECT_TRUE(RangeApplies({}, kFile));
  EXPECT_TRUE(RangeApplies({.if_range = "\"v2\""}, kFile));
  EXPECT_FALSE(RangeApplies({.if_range = "\"v1\""}, kFile));
  EXPECT_FALSE(RangeApplies({.if_range = "W/\"v2\""}, kFile));
  EXPECT_FALSE(RangeApplies({.if_range = "W/\"v2\""}, weak));
  EXPECT_TRUE(RangeApplies({.if_range = kAt}, kFile));
  EXPECT_FALSE(RangeApplies({.if_range = kAt}, weak));
  EXPECT_FALSE(RangeApplies({.if_range = kAfter}, kFile));
  EXPECT_FALSE(RangeApplies({.if_range = kBefore}, kFile));
  EXPECT_FALSE(RangeApplies({.if_range = "soon"}, kFile));
}

}  // namespace
}  // namespace croft::node::worker::http
