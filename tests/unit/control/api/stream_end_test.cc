#include "control/api/stream_end.h"

#include <gtest/gtest.h>

namespace croft::control::api {
namespace {

const absl::Status kFirst = absl::CancelledError("first");
const absl::Status kSecond = absl::UnavailableError("second");

TEST(StreamEnd, FinishesAtOnceWhenIdleAndOnlyOnce) {
  StreamEnd end;
  EXPECT_EQ(end.End(kFirst), kFirst);
  EXPECT_EQ(end.End(kSecond), std::nullopt);
  EXPECT_FALSE(end.Begin());
}

TEST(StreamEnd, WaitsForOperationsUnderWayAndKeepsTheFirstStatus) {
  StreamEnd end;
  ASSERT_TRUE(end.Begin());
  ASSERT_TRUE(end.Begin());
  EXPECT_EQ(end.End(kFirst), std::nullopt);
  EXPECT_EQ(end.End(kSecond), std::nullopt);
  EXPECT_FALSE(end.Begin());
  EXPECT_EQ(end.Complete(), std::nullopt);
  EXPECT_EQ(end.Complete(), kFirst);
}

TEST(StreamEnd, GoesOnAfterAnOperation) {
  StreamEnd end;
  ASSERT_TRUE(end.Begin());
  EXPECT_EQ(end.Complete(), std::nullopt);
  EXPECT_TRUE(end.Begin());
}

}  // namespace
}  // namespace croft::control::api
