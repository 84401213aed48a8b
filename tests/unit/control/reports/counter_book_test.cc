#include "control/reports/counter_book.h"

#include <gtest/gtest.h>

namespace croft::control::reports {
namespace {

using contract::counters::PoolCounter;
using contract::counters::SiteCounter;
using std::chrono::milliseconds;

const Reporter kWeb1{.node_uid = 1, .node = "farms/main/nodes/web1", .farm_uid = 7};
const Reporter kWeb2{.node_uid = 2, .node = "farms/main/nodes/web2", .farm_uid = 7};
const Reporter kOther{.node_uid = 3, .node = "farms/other/nodes/web1", .farm_uid = 8};
constexpr std::int64_t kShop = 40;

constexpr auto kRequests = static_cast<std::size_t>(SiteCounter::kRequestsTotal);
constexpr auto kActive = static_cast<std::size_t>(SiteCounter::kRequestsActive);

// A report of one site's requests and active requests.
node::v1::CounterReport SiteReport(std::uint64_t boot_id, std::int64_t requests,
                                   std::int64_t active) {
  node::v1::CounterReport report;
  report.set_boot_id(boot_id);
  report.set_source("listener");
  node::v1::CounterInstance& site = *report.add_instances();
  site.set_type(static_cast<std::uint32_t>(InstanceType::kSite));
  site.set_uid(kShop);
  for (std::size_t i = 0; i < static_cast<std::size_t>(SiteCounter::kCount); ++i) {
    site.add_values(i == kRequests ? requests : i == kActive ? active : 0);
  }
  return report;
}

class CounterBookTest : public testing::Test {
 protected:
  Counts Read(CountQuery query = {.type = InstanceType::kSite, .live_nodes = {1, 2, 3}}) {
    const auto all = book_.Read(query);
    const auto found = all.find({.type = query.type, .uid = kShop});
    return found == all.end() ? Counts{} : found->second;
  }
  std::int64_t Requests() { return Read().values.at(kRequests); }

  FakeClock clock_;
  CounterBook book_{clock_};
};

TEST_F(CounterBookTest, AddsDifferencesSoThatRepeatedAndLostReportsNeverCountTwice) {
  book_.Add(kWeb1, SiteReport(5, 10, 0));
  book_.Add(kWeb1, SiteReport(5, 10, 0));  // repeated
  EXPECT_EQ(Requests(), 10);
  book_.Add(kWeb1, SiteReport(5, 35, 0));  // one between was lost
  EXPECT_EQ(Requests(), 35);
  book_.Add(kWeb1, SiteReport(5, 30, 0));  // an older one, late
  book_.Add(kWeb1, SiteReport(5, 36, 0));
  EXPECT_EQ(Requests(), 36);
}

TEST_F(CounterBookTest, NewBootIdBeginsAgainAtZeroAndKeepsTheTotal) {
  book_.Add(kWeb1, SiteReport(5, 100, 0));
  book_.Add(kWeb1, SiteReport(6, 3, 0));
  EXPECT_EQ(Requests(), 103);
  book_.Add(kWeb1, SiteReport(6, 5, 0));
  EXPECT_EQ(Requests(), 105);
}

TEST_F(CounterBookTest, SumsNodesOfTheFarmAndTellsThemApart) {
  book_.Add(kWeb1, SiteReport(5, 10, 0));
  book_.Add(kWeb2, SiteReport(5, 7, 0));
  book_.Add(kOther, SiteReport(5, 1000, 0));
  EXPECT_EQ(Read({.type = InstanceType::kSite, .farm_uid = 7}).values.at(kRequests), 17);
  EXPECT_EQ(Read({.type = InstanceType::kSite, .farm_uid = 7, .node_uid = 2}).values.at(kRequests),
            7);
  EXPECT_EQ(Read({.type = InstanceType::kSite, .farm_uid = 8}).values.at(kRequests), 1000);
  EXPECT_TRUE(Read({.type = InstanceType::kPool}).values.empty());
}

TEST_F(CounterBookTest, GaugesAreReplacedAndCountOnlyOnLiveNodes) {
  book_.Add(kWeb1, SiteReport(5, 1, 4));
  book_.Add(kWeb2, SiteReport(5, 1, 3));
  EXPECT_EQ(Read().values.at(kActive), 7);
  book_.Add(kWeb1, SiteReport(5, 2, 1));
  EXPECT_EQ(Read().values.at(kActive), 4);
  EXPECT_EQ(Read({.type = InstanceType::kSite, .live_nodes = {1}}).values.at(kActive), 1);
}

TEST_F(CounterBookTest, RateIsTheLastIntervalsAndEndsWithIt) {
  book_.Add(kWeb1, SiteReport(5, 10, 0));
  EXPECT_EQ(Read().rates.at(kRequests), 0);
  clock_.Advance(milliseconds(500));
  book_.Add(kWeb1, SiteReport(5, 60, 0));
  EXPECT_DOUBLE_EQ(Read().rates.at(kRequests), 100);
  clock_.Advance(milliseconds(500));
  node::v1::CounterReport unchanged = SiteReport(5, 0, 0);
  unchanged.clear_instances();
  book_.Add(kWeb1, unchanged);
  EXPECT_EQ(Read().rates.at(kRequests), 0);
  EXPECT_EQ(Requests(), 60);
}

TEST_F(CounterBookTest, RateOfASilentNodeEnds) {
  book_.Add(kWeb1, SiteReport(5, 10, 0));
  clock_.Advance(milliseconds(1000));
  book_.Add(kWeb1, SiteReport(5, 60, 0));
  clock_.Advance(kRateKept + milliseconds(1));
  EXPECT_EQ(Read().rates.at(kRequests), 0);
}

TEST_F(CounterBookTest, HostileValuesNeitherWrapNorInventCounters) {
  node::v1::CounterReport report = SiteReport(5, std::numeric_limits<std::int64_t>::max(), 0);
  report.mutable_instances(0)->mutable_values()->Add(99);  // past the catalogue
  report.add_instances()->set_type(77);
  book_.Add(kWeb1, report);
  book_.Add(kWeb2, report);
  EXPECT_EQ(Requests(), std::numeric_limits<std::int64_t>::max());
  book_.Add(kOther, SiteReport(5, -10, -3));
  EXPECT_EQ(
      Read({.type = InstanceType::kSite, .farm_uid = 8, .live_nodes = {3}}).values.at(kActive), 0);
}

TEST_F(CounterBookTest, SourcesOfOneNodeAddUpAndAreBounded) {
  for (int worker = 0; worker < static_cast<int>(kSourcesPerNodeMax) + 10; ++worker) {
    node::v1::CounterReport report = SiteReport(5, 1, 0);
    report.set_source("worker/" + std::to_string(worker));
    book_.Add(kWeb1, report);
    clock_.Advance(milliseconds(1));
  }
  EXPECT_EQ(Requests(), static_cast<std::int64_t>(kSourcesPerNodeMax) + 10);
}

TEST_F(CounterBookTest, WorkersOfTwoNodesDifferAndEndWhenSilent) {
  node::v1::CounterReport report;
  report.set_boot_id(5);
  report.set_source("worker/3");
  node::v1::CounterInstance& worker = *report.add_instances();
  worker.set_type(static_cast<std::uint32_t>(InstanceType::kWorker));
  worker.set_uid(3);
  worker.add_values(1);
  book_.Add(kWeb1, report);
  book_.Add(kWeb2, report);
  EXPECT_EQ(book_.Read({.type = InstanceType::kWorker}).size(), 2U);
  clock_.Advance(kWorkerListed + milliseconds(1));
  EXPECT_TRUE(book_.Read({.type = InstanceType::kWorker}).empty());
}

}  // namespace
}  // namespace croft::control::reports
