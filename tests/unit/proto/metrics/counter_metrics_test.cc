#include "proto/metrics/counter_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace croft::metrics {
namespace {

using contract::counters::Catalogue;
using contract::counters::InstanceType;
using testing::HasSubstr;
using testing::Not;

std::string Text(InstanceType type, Scope scope, const std::vector<std::int64_t>& values,
                 const Labels& labels = {{"farm", "main"}}) {
  MetricsPage page;
  AddCounters(type, scope, values, labels, page);
  return page.Text();
}

// Each counter by its own value, so that none is at another's place.
TEST(CounterMetrics, EveryCounterHasASeriesOfItsKind) {
  for (const InstanceType type : {InstanceType::kNode, InstanceType::kSite, InstanceType::kPool,
                                  InstanceType::kWorker, InstanceType::kStore}) {
    const auto facts = Catalogue(type);
    std::istringstream lines(Text(type, Scope::kSum, {}));
    std::set<std::string> series;
    std::string kind;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("# TYPE ")) {
        kind = line.substr(line.rfind(' ') + 1);
        const std::string name = line.substr(7, line.rfind(' ') - 7);
        EXPECT_EQ(kind == "counter", name.ends_with("_total")) << line;
        EXPECT_TRUE(name.starts_with("croft_")) << line;
      } else if (!line.starts_with("#")) {
        series.insert(line);
      }
    }
    EXPECT_EQ(series.size(), facts.size()) << contract::counters::NameOf(type);
  }
}

TEST(CounterMetrics, StandAtTheirCountersPlaceInBaseUnits) {
  const auto facts = Catalogue(InstanceType::kSite);
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    values.push_back(static_cast<std::int64_t>(i) + 1);
  }
  values.back() = 2'500'000;  // microseconds
  const std::string text = Text(InstanceType::kSite, Scope::kSum, values);
  for (const char* line :
       {"croft_requests_total{farm=\"main\"} 1\n",
        "croft_requests_by_method_total{farm=\"main\",method=\"POST\"} 4\n",
        "croft_responses_total{farm=\"main\",code=\"5xx\"} 9\n",
        "croft_sent_bytes_total{farm=\"main\"} 11\n", "croft_active_requests{farm=\"main\"} 13\n",
        "croft_service_time_seconds_total{farm=\"main\"} 2.5\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(CounterMetrics, OfOneInstanceHaveNamesOfTheirOwnSoThatSumsCountNothingTwice) {
  const std::string text =
      Text(InstanceType::kPool, Scope::kOne, {7}, {{"farm", "main"}, {"pool", "a \"b\"\\\n"}});
  EXPECT_THAT(
      text, HasSubstr("croft_pool_requests_total{farm=\"main\",pool=\"a \\\"b\\\"\\\\\\n\"} 7\n"));
  EXPECT_THAT(text, Not(HasSubstr("croft_pools_")));
}

}  // namespace
}  // namespace croft::metrics
