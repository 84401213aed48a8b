#include "node/agent/node_page.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "croft/v1/pool.pb.h"
#include "croft/v1/site.pb.h"
#include "proto/metrics/counter_metrics.h"
#include "proto/metrics/metrics_page.h"

namespace croft::node::agent {
namespace {

using counters::InstanceType;
using metrics::Labels;
using metrics::MetricsPage;
using Values = std::vector<std::int64_t>;
using Busy = std::pair<std::int64_t, Values>;

std::string LastSegment(const std::string& name) { return name.substr(name.rfind('/') + 1); }

// "main" of "farms/main/nodes/web1".
std::string FarmOf(const std::string& node) {
  const std::size_t begin = node.find('/') + 1;
  return node.substr(begin, node.find('/', begin) - begin);
}

template <typename Message>
std::string NameOf(const NodePage& page, v1::RecordType type, std::int64_t uid) {
  Message message;
  if (page.reader != nullptr) {
    const auto found = page.reader->FindRecord({.type = type, .uid = uid});
    if (found.ok() && found->has_value() && message.ParseFromString((*found)->body) &&
        !message.name().empty()) {
      return LastSegment(message.name());
    }
  }
  return std::to_string(uid);
}

void AddState(const NodePage& page, const Labels& labels, MetricsPage& metrics) {
  metrics.AddGauge("croft_agent_connected", "1 when the agent is connected to control.", labels,
                   page.connected ? 1 : 0);
  metrics.AddGauge("croft_agent_applied_revision", "The change up to which the replica is.", labels,
                   static_cast<double>(page.applied_revision));
  metrics.AddGauge("croft_agent_serving_revision", "The change up to which the node serves.",
                   labels, static_cast<double>(page.serving_revision));
  metrics.AddGauge("croft_agent_problem",
                   "1 when the node cannot apply changes or lacks something.", labels,
                   page.problem ? 1 : 0);
}

// Those with most requests first.
std::vector<Busy> TakeBusiest(const std::map<std::int64_t, Values>& all) {
  std::vector<Busy> busiest(all.begin(), all.end());
  const auto end =
      busiest.begin() + static_cast<std::ptrdiff_t>(std::min(kBusiestMax, busiest.size()));
  std::partial_sort(busiest.begin(), end, busiest.end(), [](const Busy& a, const Busy& b) {
    return a.second.front() != b.second.front() ? a.second.front() > b.second.front()
                                                : a.first < b.first;
  });
  busiest.erase(end, busiest.end());
  return busiest;
}

}  // namespace

std::string MakeNodePage(const NodePage& page) {
  const Labels labels = {{"farm", FarmOf(page.node)}, {"node", LastSegment(page.node)}};
  MetricsPage metrics;
  metrics.AddProcess();
  AddState(page, labels, metrics);
  for (const InstanceType type : {InstanceType::kNode, InstanceType::kSite, InstanceType::kPool,
                                  InstanceType::kWorker, InstanceType::kStore}) {
    metrics::AddCounters(type, metrics::Scope::kSum, page.counters.Sum(type), labels, metrics);
  }
  for (const auto& [uid, values] : TakeBusiest(page.counters.SumByInstance(InstanceType::kSite))) {
    metrics::AddCounters(InstanceType::kSite, metrics::Scope::kOne, values,
                         {labels[0], {"site", NameOf<croft::v1::Site>(page, v1::SITE, uid)}},
                         metrics);
  }
  for (const auto& [uid, values] : TakeBusiest(page.counters.SumByInstance(InstanceType::kPool))) {
    metrics::AddCounters(
        InstanceType::kPool, metrics::Scope::kOne, values,
        {labels[0], {"pool", NameOf<croft::v1::ApplicationPool>(page, v1::POOL, uid)}}, metrics);
  }
  return metrics.Text();
}

}  // namespace croft::node::agent
