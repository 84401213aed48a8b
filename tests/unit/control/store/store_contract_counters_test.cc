// What every Store promises of counter history: run on the fake and on PostgreSQL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/unit/control/store/store_contract.h"

namespace croft::control::store {
namespace {

using contract::counters::InstanceType;
using contract::counters::SiteCounter;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr std::int64_t kDay = 1'764'547'200;  // a midnight
constexpr std::int64_t kFarm = 7, kOther = 8, kShop = 40, kBlog = 41, kWeb1 = 1, kWeb2 = 2;
constexpr auto kRequests = static_cast<std::size_t>(SiteCounter::kRequestsTotal);
constexpr auto kActive = static_cast<std::size_t>(SiteCounter::kRequestsActive);
constexpr std::size_t kTenSeconds = 0, kMinute = 1, kHour = 2;

CounterRow SiteRow(std::int64_t uid, std::int64_t node, std::int64_t requests,
                   std::int64_t active = 0) {
  CounterRow row{.type = InstanceType::kSite, .uid = uid, .node_uid = node};
  row.values.resize(static_cast<std::size_t>(SiteCounter::kCount));
  row.values[kRequests] = requests;
  row.values[kActive] = active;
  return row;
}

CounterRow Heard(std::int64_t node, std::int64_t farm = kFarm) {
  return {.type = InstanceType::kNode, .uid = -farm, .node_uid = node, .values = {}};
}

class StoreCounters : public testing::TestWithParam<bool> {
 protected:
  StoreCounters() : store_(MakeStore(GetParam())) {}

  void Write(std::int64_t at, std::vector<CounterRow> rows) {
    Write({.id = ++last_id_, .at = at, .rows = std::move(rows)});
  }
  void Write(const CounterStep& step) {
    const absl::Status status = store_->WriteCounters(step);
    EXPECT_TRUE(status.ok()) << status;
  }
  void TendUntilDone(std::int64_t now, const HistoryRetention& retention = {}) {
    auto more = store_->TendCounterHistory(now, retention);
    while (more.ok() && *more) {
      more = store_->TendCounterHistory(now, retention);
    }
    EXPECT_TRUE(more.ok()) << more.status();
  }
  // Time, counted from kDay, and one counter.
  std::vector<std::pair<std::int64_t, std::int64_t>> Read(HistoryQuery query,
                                                          std::size_t counter = kRequests) {
    query.from += kDay;
    query.to += kDay;
    const auto points = store_->ReadCounterHistory(query);
    EXPECT_TRUE(points.ok()) << points.status();
    std::vector<std::pair<std::int64_t, std::int64_t>> read;
    for (const HistoryPoint& point : points.value_or(std::vector<HistoryPoint>())) {
      read.emplace_back(point.at - kDay, point.values.at(counter));
    }
    return read;
  }

  std::unique_ptr<Store> store_;
  std::int64_t last_id_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreCounters, testing::Bool(), NameOfStore);

TEST_P(StoreCounters, PartsOfAStepAddUpAndOneThatIsWrittenTwiceCountsOnce) {
  const CounterStep part = {
      .id = 100, .at = kDay, .rows = {Heard(kWeb1), SiteRow(kShop, kWeb1, 5, 2)}};
  Write(part);
  Write(part);
  Write({.id = 101, .at = kDay, .rows = {SiteRow(kShop, kWeb1, 1, 3)}});
  Write({.id = 102, .at = kDay, .rows = {SiteRow(kShop, kWeb2, 10, 4)}});
  HistoryQuery query = {.uids = {{kShop}}, .farm_uid = kFarm, .to = 60};
  EXPECT_THAT(Read(query), ElementsAre(Pair(0, 16)));
  EXPECT_THAT(Read(query, kActive), ElementsAre(Pair(0, 7)));
  query.node_uid = kWeb1;
  EXPECT_THAT(Read(query), ElementsAre(Pair(0, 6)));
}

TEST_P(StoreCounters, AStepWithoutAWordOfAnyNodeHasNoPoint) {
  Write(kDay, {Heard(kWeb1), SiteRow(kShop, kWeb1, 5)});
  Write(kDay + 10, {Heard(kWeb2)});
  Write(kDay + 20, {Heard(kWeb1, kOther)});
  HistoryQuery query = {.uids = {{kShop}}, .farm_uid = kFarm, .to = 60};
  EXPECT_THAT(Read(query), ElementsAre(Pair(0, 5), Pair(10, 0)));
  query.node_uid = kWeb2;
  EXPECT_THAT(Read(query), ElementsAre(Pair(10, 0)));
  query = {.uids = {{kShop, kBlog}}, .to = 60};
  EXPECT_THAT(Read(query), ElementsAre(Pair(0, 5), Pair(10, 0), Pair(20, 0)));
  query.uids.emplace();
  EXPECT_THAT(Read(query), ElementsAre(Pair(0, 0), Pair(10, 0), Pair(20, 0)));
}

TEST_P(StoreCounters, SumsOfAFarmAreReadWithoutItsInstances) {
  Write(kDay, {Heard(kWeb1), SiteRow(kShop, kWeb1, 5), SiteRow(-kFarm, kWeb1, 9, 1)});
  Write(kDay, {Heard(kWeb2, kOther), SiteRow(-kOther, kWeb2, 100)});
  EXPECT_THAT(Read({.farm_uid = kFarm, .to = 60}), ElementsAre(Pair(0, 9)));
  EXPECT_THAT(Read({.to = 60}), ElementsAre(Pair(0, 109)));
}

// The same questions are answered alike before longer steps are made of the short ones, after, and
// when the short ones are gone.
TEST_P(StoreCounters, LongerStepsAddCountersUpAndKeepTheHighestOfAGauge) {
  for (std::int64_t step = 0; step < 12; ++step) {  // two minutes
    Write(kDay + step * 10, {Heard(kWeb1), SiteRow(kShop, kWeb1, step, step == 3 ? 8 : 1),
                             SiteRow(kShop, kWeb2, 100, step == 4 ? 5 : 0)});
  }
  Write(kDay + 3600, {Heard(kWeb1), SiteRow(kShop, kWeb1, 7)});
  const HistoryQuery minutes = {
      .uids = {{kShop}}, .farm_uid = kFarm, .level = kMinute, .step = 60, .to = 7200};
  const HistoryQuery hours = {
      .uids = {{kShop}}, .farm_uid = kFarm, .level = kHour, .step = 7200, .to = 7200};
  HistoryRetention retention;
  for (const std::int64_t now : {0, 65, 86, 3700, 7300, 36'000}) {
    SCOPED_TRACE(now);
    TendUntilDone(kDay + now, retention);
    EXPECT_THAT(Read(minutes), ElementsAre(Pair(0, 615), Pair(60, 651), Pair(3600, 7)));
    EXPECT_THAT(Read(minutes, kActive), ElementsAre(Pair(0, 13), Pair(60, 1), Pair(3600, 0)));
    EXPECT_THAT(Read(hours), ElementsAre(Pair(0, 1273)));
  }
  EXPECT_THAT(Read({.uids = {{kShop}}, .farm_uid = kFarm, .level = kTenSeconds, .to = 7200}),
              IsEmpty());
  TendUntilDone(kDay + 30 * 86'400, retention);
  EXPECT_THAT(Read(minutes), IsEmpty());
  EXPECT_THAT(Read(hours), ElementsAre(Pair(0, 1273)));
  TendUntilDone(kDay + 3 * 365 * 86'400, retention);
  EXPECT_THAT(Read(hours), IsEmpty());
}

TEST_P(StoreCounters, WhatIsWrittenLateIsInTheLongerStepsToo) {
  Write(kDay, {Heard(kWeb1), SiteRow(kShop, kWeb1, 1)});
  TendUntilDone(kDay + 7300);
  Write(kDay + 10, {Heard(kWeb1), SiteRow(kShop, kWeb1, 2), SiteRow(kBlog, kWeb1, 4)});
  for (const std::int64_t now : {7310, 36'000}) {
    TendUntilDone(kDay + now);
    EXPECT_THAT(Read({.uids = {{kShop, kBlog}}, .level = kMinute, .step = 60, .to = 60}),
                ElementsAre(Pair(0, 7)));
    EXPECT_THAT(Read({.uids = {{kShop, kBlog}}, .level = kHour, .step = 3600, .to = 3600}),
                ElementsAre(Pair(0, 7)));
  }
}

TEST_P(StoreCounters, ValuesOfAHostileWorkerStopNothing) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  Write(kDay, {Heard(kWeb1), SiteRow(kShop, kWeb1, kMost), SiteRow(kShop, kWeb2, kMost)});
  Write(kDay + 10, {Heard(kWeb1), SiteRow(kShop, kWeb1, kMost), SiteRow(kBlog, kWeb1, 3)});
  TendUntilDone(kDay + 36'000);
  EXPECT_THAT(Read({.uids = {{kBlog}}, .level = kMinute, .step = 60, .to = 60}),
              ElementsAre(Pair(0, 3)));
  if (!GetParam()) {  // the fake wraps
    EXPECT_THAT(Read({.uids = {{kShop}}, .level = kMinute, .step = 60, .to = 60}),
                ElementsAre(Pair(0, kMost)));
  }
}

TEST(PgStoreCounters, ManyRowsAreMadeInSeveralRounds) {
  const auto store = MakeStore(/*fake=*/false);
  CounterStep step = {.id = 1, .at = kDay, .rows = {Heard(kWeb1)}};
  for (std::int64_t uid = 1; uid <= 60'000; ++uid) {
    step.rows.push_back(SiteRow(uid, kWeb1, uid));
  }
  ASSERT_TRUE(store->WriteCounters(step).ok());
  const auto first = store->TendCounterHistory(kDay + 90, {});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(*first);
  const auto second = store->TendCounterHistory(kDay + 90, {});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_FALSE(*second);
  const auto points = store->ReadCounterHistory(
      {.uids = {{1, 60'000}}, .level = kMinute, .step = 60, .from = kDay, .to = kDay + 60});
  ASSERT_TRUE(points.ok()) << points.status();
  ASSERT_EQ(points->size(), 1U);
  EXPECT_EQ(points->front().values.at(kRequests), 60'001);
}

}  // namespace
}  // namespace croft::control::store
