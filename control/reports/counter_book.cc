#include "control/reports/counter_book.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

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

CounterBook::Node& CounterBook::NodeOf(const Reporter& node, Book& book) const {
  book.steps.Advance(UnixMillis(clock_.Now()) / 1000);
  book.steps.Hear(node.node_uid, node.farm_uid);
  Node& entry = book.nodes[node.node_uid];
  entry.uid = node.node_uid;
  entry.farm_uid = node.farm_uid;
  return entry;
}

void CounterBook::EndGauges(const Node& node, Source& source, StepCounts& steps) {
  for (auto& [instance, reported] : source.instances) {
    const std::span<const CounterFacts> facts = Catalogue(instance.type);
    std::vector<std::int64_t> change(facts.size());
    for (std::size_t i = 0; i < facts.size(); ++i) {
      if (facts[i].gauge) {
        change[i] = -std::exchange(reported.last[i], 0);
      }
    }
    steps.Add(node.uid, instance.type, instance.uid, change);
  }
}

CounterBook::Source& CounterBook::SourceOf(Node& node, StepCounts& steps, const std::string& name) {
  if (node.sources.size() >= kSourcesPerNodeMax && !node.sources.contains(name)) {
    const auto oldest =
        std::min_element(node.sources.begin(), node.sources.end(),
                         [](const auto& a, const auto& b) { return a.second.at < b.second.at; });
    EndGauges(node, oldest->second, steps);
    node.sources.erase(oldest);
  }
  return node.sources[name];
}

std::vector<std::int64_t> CounterBook::AddInstance(const Instance& instance,
                                                   const node::v1::CounterInstance& values,
                                                   const Reported& stamp,
                                                   std::pair<Source&, Node&> place) {
  const std::span<const CounterFacts> facts = Catalogue(instance.type);
  Reported& reported = place.first.instances[instance];
  std::vector<std::int64_t>& totals = place.second.totals[instance];
  const bool counted_before = place.second.telling_all && reported.stream != stamp.stream;
  reported.last.resize(facts.size());
  reported.added.assign(facts.size(), 0);
  reported.at = stamp.at;
  reported.interval = stamp.interval;
  reported.stream = stamp.stream;
  totals.resize(facts.size());
  std::vector<std::int64_t> change(facts.size());
  const std::size_t known = std::min(facts.size(), static_cast<std::size_t>(values.values_size()));
  for (std::size_t i = 0; i < known; ++i) {
    const std::int64_t value = std::max<std::int64_t>(0, values.values(static_cast<int>(i)));
    if (facts[i].gauge) {
      change[i] = value - std::exchange(reported.last[i], value);
    } else if (value > reported.last[i]) {
      reported.added[i] = value - std::exchange(reported.last[i], value);
      AddTo(totals[i], reported.added[i]);
      change[i] = counted_before ? 0 : reported.added[i];
    }
  }
  return change;
}

void CounterBook::BeginStream(const Reporter& node) {
  auto book = book_.Lock();
  Node& entry = NodeOf(node, *book);
  ++entry.stream;
  entry.telling_all = true;
}

void CounterBook::Hear(const Reporter& node) { NodeOf(node, *book_.Lock()); }

// Sources that were not told of have ended while nobody listened.
void CounterBook::OnAllTold(Node& node, StepCounts& steps) {
  node.telling_all = false;
  for (auto& [name, source] : node.sources) {
    if (source.stream != node.stream) {
      EndGauges(node, source, steps);
    }
  }
}

void CounterBook::Add(const Reporter& node, const node::v1::CounterReport& report) {
  const Monotonic now = clock_.Monotonic();
  auto book = book_.Lock();
  Node& entry = NodeOf(node, *book);
  if (report.source().empty()) {
    OnAllTold(entry, book->steps);
    return;
  }
  Source& source = SourceOf(entry, book->steps, report.source());
  Reported stamp;
  stamp.at = now;
  stamp.stream = entry.stream;
  if (source.at.has_value() && source.boot_id == report.boot_id()) {
    stamp.interval = now - *source.at;
  } else {
    EndGauges(entry, source, book->steps);
    source.instances.clear();  // its values began again at 0
  }
  source.boot_id = report.boot_id();
  source.stream = entry.stream;
  source.at = now;
  for (const node::v1::CounterInstance& values : report.instances()) {
    const auto type = static_cast<InstanceType>(values.type());
    if (!Catalogue(type).empty()) {
      const Instance instance = MakeInstance(node, type, values.uid());
      const auto change = AddInstance(instance, values, stamp, {source, entry});
      book->steps.Add(node.node_uid, type, instance.uid, change);
    }
  }
}

std::vector<store::CounterStep> CounterBook::TakeSteps(bool all) {
  auto book = book_.Lock();
  book->steps.Advance(UnixMillis(clock_.Now()) / 1000);
  return book->steps.Take(all);
}

std::vector<std::pair<std::int64_t, std::vector<std::int64_t>>> CounterBook::ReadBusiest(
    InstanceType type, std::size_t limit) {
  const std::span<const CounterFacts> facts = Catalogue(type);
  std::vector<std::pair<std::int64_t, std::vector<std::int64_t>>> busiest;
  auto book = book_.Lock();
  for (const std::int64_t uid : book->steps.Busiest(type, limit)) {
    const Instance instance{.type = type, .uid = uid};
    std::vector<std::int64_t> values(facts.size());
    for (const auto& [node_uid, node] : book->nodes) {
      const auto totals = node.totals.find(instance);
      for (std::size_t i = 0; totals != node.totals.end() && i < facts.size(); ++i) {
        AddTo(values[i], totals->second[i]);
      }
      for (const auto& [name, source] : node.sources) {
        const auto reported = source.instances.find(instance);
        for (std::size_t i = 0; reported != source.instances.end() && i < facts.size(); ++i) {
          AddTo(values[i], facts[i].gauge ? reported->second.last[i] : 0);
        }
      }
    }
    busiest.emplace_back(uid, std::move(values));
  }
  return busiest;
}

std::map<std::int64_t, NodeSums> CounterBook::ReadSums() { return book_.Lock()->steps.sums(); }

std::uint64_t CounterBook::history_rows_lost() { return book_.Lock()->steps.rows_lost(); }

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
  auto book = book_.Lock();
  for (const auto& [uid, node] : book->nodes) {
    const bool asked = (query.farm_uid == 0 || query.farm_uid == node.farm_uid) &&
                       (query.node_uid == 0 || query.node_uid == uid);
    if (asked) {
      ReadNode(node, {query, now}, query.live_nodes.contains(uid), counts);
    }
  }
  return counts;
}

}  // namespace croft::control::reports
