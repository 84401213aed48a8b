#include "node/agent/counter_collector.h"

#include <gtest/gtest.h>

namespace croft::node::agent {
namespace {

using counters::CounterMemory;
using counters::InstanceType;
using counters::SiteCounter;

class CounterCollectorTest : public testing::Test {
 protected:
  CounterCollectorTest()
      : fd_(*CounterMemory::Create()), memory_(*CounterMemory::Map(fd_.get(), true)) {}

  void Count(std::int64_t uid, SiteCounter counter = SiteCounter::kRequestsTotal) {
    memory_->GetRow(InstanceType::kSite, uid).Add(counter);
  }
  std::vector<std::int64_t> CollectUids() {
    std::vector<std::int64_t> uids;
    for (const v1::CounterReport& report : collector_.Collect()) {
      for (const v1::CounterInstance& instance : report.instances()) {
        uids.push_back(instance.uid());
      }
    }
    return uids;
  }

  UniqueFd fd_;
  std::unique_ptr<CounterMemory> memory_;
  CounterCollector collector_;
};

TEST_F(CounterCollectorTest, ReportsOnlyRowsThatChanged) {
  ASSERT_TRUE(collector_.AddSource("listener", fd_.get()).ok());
  Count(1);
  Count(2);
  EXPECT_EQ(CollectUids().size(), 2u);
  EXPECT_TRUE(CollectUids().empty());
  Count(2);
  EXPECT_EQ(CollectUids(), std::vector<std::int64_t>{2});
}

TEST_F(CounterCollectorTest, ReportsCumulativeValuesWithTheirSource) {
  ASSERT_TRUE(collector_.AddSource("worker/3", fd_.get()).ok());
  Count(1);
  collector_.Collect();
  Count(1);
  const auto reports = collector_.Collect();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].source(), "worker/3");
  EXPECT_EQ(reports[0].boot_id(), memory_->boot_id());
  EXPECT_EQ(reports[0].instances(0).values_size(), static_cast<int>(SiteCounter::kCount));
  EXPECT_EQ(reports[0].instances(0).values(static_cast<int>(SiteCounter::kRequestsTotal)), 2);
}

TEST_F(CounterCollectorTest, BeginsAgainForANewStream) {
  ASSERT_TRUE(collector_.AddSource("listener", fd_.get()).ok());
  Count(1);
  collector_.Collect();
  collector_.ForgetReported();
  const auto reports = collector_.Collect();
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].instances(0).uid(), 1);
  EXPECT_EQ(reports[1].source(), "");
  EXPECT_EQ(reports[1].instances_size(), 0);
  EXPECT_TRUE(collector_.Collect().empty());
}

TEST_F(CounterCollectorTest, ReportsAnEndedSourceOnceMoreWithoutGauges) {
  ASSERT_TRUE(collector_.AddSource("worker/3", fd_.get()).ok());
  Count(1);
  Count(1, SiteCounter::kRequestsActive);
  collector_.Collect();
  collector_.EndSource("worker/3");
  const auto reports = collector_.Collect();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].instances(0).values(static_cast<int>(SiteCounter::kRequestsTotal)), 1);
  EXPECT_EQ(reports[0].instances(0).values(static_cast<int>(SiteCounter::kRequestsActive)), 0);
  collector_.ForgetReported();
  EXPECT_TRUE(CollectUids().empty());
}

TEST_F(CounterCollectorTest, KeepsAMemoryThatOutlivesItsProcess) {
  ASSERT_TRUE(collector_.AddSource("listener", fd_.get()).ok());
  Count(1);
  collector_.Collect();
  ASSERT_TRUE(collector_.AddSource("listener", fd_.get()).ok());
  EXPECT_TRUE(collector_.Collect().empty());
}

TEST_F(CounterCollectorTest, SplitsLargeReports) {
  ASSERT_TRUE(collector_.AddSource("listener", fd_.get()).ok());
  for (int uid = 1; uid <= CounterCollector::kRowsPerReportMax + 1; ++uid) {
    Count(uid);
  }
  EXPECT_EQ(collector_.Collect().size(), 2u);
}

TEST_F(CounterCollectorTest, RefusesWhatIsNoCounterMemory) {
  EXPECT_FALSE(collector_.AddSource("worker/3", 0).ok());
}

}  // namespace
}  // namespace croft::node::agent
