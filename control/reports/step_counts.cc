#include "control/reports/step_counts.h"

#include <algorithm>
#include <limits>

#include "proto/base/random.h"

namespace croft::control::reports {
namespace {

static_assert(static_cast<int>(contract::counters::SiteCounter::kRequestsTotal) == 0 &&
              static_cast<int>(contract::counters::PoolCounter::kRequestsTotal) == 0);

using contract::counters::Catalogue;

constexpr std::int64_t kStep = store::kHistorySteps[0];

std::int64_t Sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

bool IsZero(std::span<const std::int64_t> values) {
  return std::ranges::all_of(values, [](std::int64_t value) { return value == 0; });
}

}  // namespace

void StepCounts::Apply(InstanceType type, std::span<const std::int64_t> change, Entry& entry) {
  const auto facts = Catalogue(type);
  entry.values.resize(facts.size());
  entry.gauges.resize(facts.size());
  for (std::size_t i = 0; i < std::min(facts.size(), change.size()); ++i) {
    if (facts[i].gauge) {
      entry.gauges[i] = std::max<std::int64_t>(0, Sum(entry.gauges[i], change[i]));
      entry.values[i] = std::max(entry.values[i], entry.gauges[i]);
    } else {
      entry.values[i] = Sum(entry.values[i], change[i]);
    }
  }
}

void StepCounts::Advance(std::int64_t now) {
  const std::int64_t at = now / kStep * kStep;
  if (at != at_) {
    Close();
    at_ = at;
  }
}

void StepCounts::Hear(std::int64_t node_uid, std::int64_t farm_uid) {
  Node& node = nodes_[node_uid];
  if (node.heard) {
    return;
  }
  node.farm_uid = farm_uid;
  node.heard = true;
  sums_[node_uid].farm_uid = farm_uid;
  Apply(InstanceType::kNode, {}, node.entries[{InstanceType::kNode, -farm_uid}]);
}

void StepCounts::Add(std::int64_t node_uid, InstanceType type, std::int64_t uid,
                     std::span<const std::int64_t> change) {
  if (uid <= 0 || IsZero(change)) {
    return;
  }
  Node& node = nodes_[node_uid];
  const Key key(type, uid);
  if (rows_ < kStepRowsMax || node.entries.contains(key)) {
    const auto [entry, is_new] = node.entries.try_emplace(key);
    rows_ += is_new ? 1 : 0;
    Apply(type, change, entry->second);
  } else {
    ++rows_lost_;
  }
  Apply(type, change, node.entries[{type, -node.farm_uid}]);
  Entry ever{.values = {}, .gauges = std::move(sums_[node_uid].sums[type])};
  ever.gauges.resize(Catalogue(type).size());
  for (std::size_t i = 0; i < std::min(ever.gauges.size(), change.size()); ++i) {
    ever.gauges[i] = std::max<std::int64_t>(0, Sum(ever.gauges[i], change[i]));
  }
  sums_[node_uid].sums[type] = std::move(ever.gauges);
}

std::map<StepCounts::Key, StepCounts::Entry> StepCounts::CarryOver(
    const std::map<Key, Entry>& entries) {
  std::map<Key, Entry> carried;
  for (const auto& [key, entry] : entries) {
    if (!IsZero(entry.gauges)) {
      carried[key] = {.values = entry.gauges, .gauges = entry.gauges};
    }
  }
  return carried;
}

// A node that was not heard of keeps its gauges, which go on when it comes back, and has no rows.
void StepCounts::Close() {
  store::CounterStep step{.id = static_cast<std::int64_t>(RandomId() >> 1), .at = at_, .rows = {}};
  rows_ = 0;
  for (auto node = nodes_.begin(); node != nodes_.end();) {
    auto& [uid, counted] = *node;
    std::map<Key, Entry> carried = CarryOver(counted.entries);
    if (counted.heard) {
      for (auto& [key, entry] : counted.entries) {
        step.rows.push_back({.type = key.first,
                             .uid = key.second,
                             .node_uid = uid,
                             .values = std::move(entry.values)});
      }
    }
    counted.heard = false;
    counted.entries = std::move(carried);
    rows_ += counted.entries.size();
    node = counted.entries.empty() ? nodes_.erase(node) : std::next(node);
  }
  Rank(step.rows);
  if (step.rows.empty()) {
    return;
  }
  closed_rows_ += step.rows.size();
  closed_.push_back(std::move(step));
  while (closed_rows_ > kClosedRowsMax && closed_.size() > 1) {
    closed_rows_ -= closed_.front().rows.size();
    rows_lost_ += closed_.front().rows.size();
    closed_.erase(closed_.begin());
  }
}

void StepCounts::Rank(const std::vector<store::CounterRow>& rows) {
  for (const store::CounterRow& row : rows) {
    const bool ranked = row.type == InstanceType::kSite || row.type == InstanceType::kPool;
    if (ranked && row.uid > 0 && !row.values.empty()) {
      rankings_[row.type].Add(row.uid, row.values.front());
    }
  }
  for (auto& [type, ranking] : rankings_) {
    ranking.Age();
  }
}

std::vector<std::int64_t> StepCounts::Busiest(InstanceType type, std::size_t limit) const {
  const auto found = rankings_.find(type);
  return found == rankings_.end() ? std::vector<std::int64_t>() : found->second.Top(limit);
}

std::vector<store::CounterStep> StepCounts::Take(bool all) {
  if (all) {
    Close();
  }
  closed_rows_ = 0;
  return std::exchange(closed_, {});
}

}  // namespace croft::control::reports
