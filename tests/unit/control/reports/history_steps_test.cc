#include "control/reports/history_steps.h"

#include <gtest/gtest.h>

namespace croft::control::reports {
namespace {

constexpr std::int64_t kNow = 1'764'547'200;  // a midnight
constexpr std::int64_t kHour = 3600, kDay = 86'400;

TEST(HistorySteps, AreRoundedUpToOneThatIsKeptForTheWholeTime) {
  struct Case {
    const char* what;
    std::int64_t ago, step_asked;
    std::int64_t step;
    std::size_t level;
  };
  const Case cases[] = {
      {"as asked", kHour, 10, 10, 0},
      {"between two", kHour, 11, 20, 0},
      {"read from the longest that divides it", kHour, 120, 120, 1},
      {"no multiple of a minute", kHour, 90, 90, 0},
      {"ten seconds are gone", 7 * kHour, 10, 60, 1},
      {"rounded to minutes", 7 * kHour, 90, 120, 1},
      {"hours of minutes", 7 * kHour, 2 * kHour, 2 * kHour, 2},
      {"minutes are gone", 15 * kDay, 60, kHour, 2},
      {"older than all", 5 * 365 * kDay, 5 * kHour, 5 * kHour, 2},
      {"about a hundred of an hour", kHour, 0, 30, 0},
      {"about a hundred of a day", kDay, 0, 600, 1},
      {"about a hundred of a month", 30 * kDay, 0, 6 * kHour, 2},
      {"about a hundred of a moment", 100, 0, 10, 0},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    const auto span = ChooseSteps(kNow - one.ago, kNow, one.step_asked, kNow, {});
    ASSERT_TRUE(span.ok()) << span.status();
    EXPECT_EQ(span->step, one.step);
    EXPECT_EQ(span->level, one.level);
    EXPECT_EQ(span->from % span->step, 0);
    EXPECT_EQ(span->to % span->step, 0);
    EXPECT_LE(span->from, kNow - one.ago);
  }
}

TEST(HistorySteps, EndBeforeTheStepThatIsNotWrittenYet) {
  EXPECT_EQ(ChooseSteps(kNow - 60, kNow + 2, 10, kNow + 2, {})->to, kNow - 10);
  EXPECT_EQ(ChooseSteps(kNow - 60, kNow + 3, 10, kNow + 3, {})->to, kNow);
  // Of an hour that goes on there is what was written of it.
  EXPECT_EQ(ChooseSteps(kNow - kDay, kNow + 600, kHour, kNow + 600, {})->to, kNow + kHour);
  EXPECT_EQ(ChooseSteps(kNow - 60, kNow - 30, 10, kNow, {})->to, kNow - 30);
}

TEST(HistorySteps, RefuseWhatIsNoTimeOrTooMuch) {
  EXPECT_EQ(ChooseSteps(kNow, kNow, 10, kNow, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ChooseSteps(kNow + 5, kNow, 10, kNow, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
  const auto refused = ChooseSteps(kNow - 13 * kDay, kNow, 60, kNow, {});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("120000 or more"), std::string::npos)
      << refused.status();
  EXPECT_TRUE(ChooseSteps(0, kNow, 0, kNow, {}).ok());
}

}  // namespace
}  // namespace croft::control::reports
