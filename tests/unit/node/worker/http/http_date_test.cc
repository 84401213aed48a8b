#include "node/worker/http/http_date.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string_view>

namespace croft::node::worker::http {
namespace {

TEST(HttpDate, FormatsAsImfFixdate) {
  EXPECT_EQ(FormatHttpDate(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(FormatHttpDate(0), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(FormatHttpDate(-1), "Wed, 31 Dec 1969 23:59:59 GMT");
  EXPECT_EQ(FormatHttpDate(951782400), "Tue, 29 Feb 2000 00:00:00 GMT");
  EXPECT_EQ(FormatHttpDate(1'000'000'000'000), "Fri, 31 Dec 9999 23:59:59 GMT");
}

TEST(HttpDate, ParsesAllThreeForms) {
  EXPECT_EQ(ParseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT"), 784111777);
  EXPECT_EQ(ParseHttpDate("Sunday, 06-Nov-94 08:49:37 GMT"), 784111777);
  EXPECT_EQ(ParseHttpDate("Sun Nov  6 08:49:37 1994"), 784111777);
  EXPECT_EQ(ParseHttpDate("Sunday, 06-Nov-33 08:49:37 GMT"), 2014879777);
}

TEST(HttpDate, RefusesEverythingElse) {
  for (const std::string_view bad :
       {"", "yesterday", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 06 Abc 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 6 Nov 1994 08:49:37 GMT", "784111777",
        "Sun, -6 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT"}) {
    EXPECT_EQ(ParseHttpDate(bad), std::nullopt) << bad;
  }
}

TEST(HttpDate, BringsBackWhatItFormats) {
  for (std::int64_t seconds = -5'000'000'000; seconds < 250'000'000'000; seconds += 86'399'917) {
    ASSERT_EQ(ParseHttpDate(FormatHttpDate(seconds)), seconds);
  }
}

}  // namespace
}  // namespace croft::node::worker::http
