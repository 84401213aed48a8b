#include "control/reports/counter_book.h"

#include <algorithm>
#include <limits>
#include <span>

namespace croft::control::reports {
namespace {

using contract::counters::Catalogue;
using contract::counters::CounterFacts;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// A worker may write anything into its counter memory, so a sum must not overflow.
void AddTo(std::int64_t& sum, std::int64_t value) {
  if (__builtin_add_overflow(sum, value, &sum)) {
    sum = kMost;
  }
}

Instance MakeInstance(const Reporter& node, InstanceType type, std::int64_t uid) {
  switch (type) {
    case InstanceType::kNode:
      return {.type = type, .uid = node.node_uid};
    case InstanceType::kWorker:
      return {.type = type, .uid = uid, .node_uid = node.node_uid};
    case InstanceType::kSite:
    case InstanceType::kPool:
    case InstanceType::kStore:
      break;
  }
  return {.type = type, .uid = uid};
}

bool IsAsked(const CountQuery& query, const Instance& instance) {
  return instance.type == query.type &&
         (!query.instance_uid.has_value() || *query.instance_uid == instance.uid);
}

Counts& CountsOf(std::map<Instance, Counts>& counts, const Instance& instance) {
  Counts& found = counts[instance];
  const std::size_t size = Catalogue(instance.type).size();
  found.values.resize(size);
  found.rates.resize(size);
  return found;
}

}  // namespace

CounterBook::Source& CounterBook::SourceOf(Node& node, const std::string& name) {
  if (node.sources.size() >= kSourcesPerNodeMax && !node.sources.contains(name)) {
    node.sources.erase(
        std::min_element(node.sources.begin(), node.sources.end(),
                         [](const auto& a, const auto& b) { return a.second.at < b.second.at; }));
  }
  return node.sources[name];
}

void CounterBook::AddInstance(const Instance& instance, const node::v1::CounterInstance& values,
                              const Reported& stamp, std::pair<Source&, Node&> place) {
  const std::span<const CounterFacts> facts = Catalogue(instance.type);
  Reported& reported = place.first.instances[instance];
  std::vector<std::int64_t>& totals = place.second.totals[instance];
  reported.last.resize(facts.size());
  reported.added.assign(facts.size(), 0);
  reported.at = stamp.at;
  reported.interval = stamp.interval;
  totals.resize(facts.size());
  const std::size_t known = std::min(facts.size(), static_cast<std::size_t>(values.values_size()));
  for (std::size_t i = 0; i < known; ++i) {
    const std::int64_t value = std::max<std::int64_t>(0, values.values(static_cast<int>(i)));
    if (facts[i].gauge) {
      reported.last[i] = value;
    } else if (value > reported.last[i]) {
      reported.added[i] = value - reported.last[i];
      reported.last[i] = value;
      AddTo(totals[i], reported.added[i]);
    }
  }
}

void CounterBook::Add(const Reporter& node, const node::v1::CounterReport& report) {
  const Monotonic now = clock_.Monotonic();
  auto nodes = nodes_.Lock();
  Node& entry = (*nodes)[node.node_uid];
  entry.farm_uid = node.farm_uid;
  Source& source = SourceOf(entry, report.source());
  Reported stamp;
  stamp.at = now;
  if (source.at.has_value() && source.boot_id == report.boot_id()) {
    stamp.interval = now - *source.at;
  } else {
    source.instances.clear();  // its values began again at 0
  }
  source.boot_id = report.boot_id();
  source.at = now;
  for (const node::v1::CounterInstance& values : report.instances()) {
    const auto type = static_cast<InstanceType>(values.type());
    if (!Catalogue(type).empty()) {
      AddInstance(MakeInstance(node, type, values.uid()), values, stamp, {source, entry});
    }
  }
}

void CounterBook::ReadNode(const Node& node, std::pair<const CountQuery&, Monotonic> asked,
                           bool live, std::map<Instance, Counts>& counts) {
  const auto& [query, now] = asked;
  const std::span<const CounterFacts> facts = Catalogue(query.type);
  std::set<Instance> gone;
  for (const auto& [name, source] : node.sources) {
    for (const auto& [instance, reported] : source.instances) {
      if (!IsAsked(query, instance)) {
        continue;
      }
      if (instance.type == InstanceType::kWorker && now - reported.at > kWorkerListed) {
        gone.insert(instance);
        continue;
      }
      Counts& sum = CountsOf(counts, instance);
      const bool current = source.at == reported.at && now - reported.at <= kRateKept;
      for (std::size_t i = 0; i < facts.size(); ++i) {
        if (facts[i].gauge && live) {
          AddTo(sum.values[i], reported.last[i]);
        } else if (!facts[i].gauge && current && reported.interval.count() > 0) {
          sum.rates[i] += static_cast<double>(reported.added[i]) / reported.interval.count();
        }
      }
    }
  }
  for (const auto& [instance, totals] : node.totals) {
    if (!IsAsked(query, instance) || gone.contains(instance)) {
      continue;
    }
    Counts& sum = CountsOf(counts, instance);
    for (std::size_t i = 0; i < facts.size(); ++i) {
      AddTo(sum.values[i], totals[i]);
    }
  }
}

std::map<Instance, Counts> CounterBook::Read(const CountQuery& query) {
  const Monotonic now = clock_.Monotonic();
  std::map<Instance, Counts> counts;
  auto nodes = nodes_.Lock();
  for (const auto& [uid, node] : *nodes) {
    const bool asked = (query.farm_uid == 0 || query.farm_uid == node.farm_uid) &&
                       (query.node_uid == 0 || query.node_uid == uid);
    if (asked) {
      ReadNode(node, {query, now}, query.live_nodes.contains(uid), counts);
    }
  }
  return counts;
}

}  // namespace croft::control::reports
