// Counter history in memory: only the steps of ten seconds, from which longer ones are made when
// they are asked for.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "tests/unit/control/store/fake_store.h"

namespace croft::control::store {
namespace {

using contract::counters::Catalogue;
using contract::counters::InstanceType;
using Values = std::vector<std::int64_t>;

std::int64_t FloorTo(std::int64_t time, std::int64_t step) { return time / step * step; }

enum class Gauges { kHighest, kSum };

void Combine(InstanceType type, const Values& from, Gauges gauges, Values& into) {
  const auto facts = Catalogue(type);
  into.resize(facts.size());
  for (std::size_t i = 0; i < std::min(facts.size(), from.size()); ++i) {
    into[i] = facts[i].gauge && gauges == Gauges::kHighest ? std::max(into[i], from[i])
                                                           : into[i] + from[i];
  }
}

}  // namespace

absl::Status FakeStore::WriteCounters(const CounterStep& step) {
  if (const auto state = Current(); !state.ok()) {
    return state.status();
  }
  const std::lock_guard lock(mutex_);
  for (const CounterRow& row : step.rows) {
    counters_.try_emplace({step.at, row.type, row.uid, row.node_uid, step.id}, row.values);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<HistoryPoint>> FakeStore::ReadCounterHistory(const HistoryQuery& query) {
  if (const auto state = Current(); !state.ok()) {
    return state.status();
  }
  const std::lock_guard lock(mutex_);
  const std::int64_t base = kHistorySteps[query.level];
  std::set<std::int64_t> heard;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, Values> kept;
  for (const auto& [key, values] : counters_) {
    const bool total = query.farm_uid == 0 ? key.uid < 0 : key.uid == -query.farm_uid;
    const bool named =
        query.uids.has_value() ? std::ranges::count(*query.uids, key.uid) > 0 : total;
    if (key.at < query.from || key.at >= query.to || key.at < counters_from_[query.level] ||
        (query.node_uid != 0 && key.node_uid != query.node_uid)) {
      continue;
    }
    if (key.type == InstanceType::kNode && total) {
      heard.insert(FloorTo(key.at, query.step));
    }
    if (key.type == query.type && named) {
      Combine(query.type, values, Gauges::kHighest,
              kept[{FloorTo(key.at, base), key.uid, key.node_uid}]);
    }
  }
  std::map<std::int64_t, Values> summed;
  for (const auto& [key, values] : kept) {
    Combine(query.type, values, Gauges::kSum, summed[std::get<0>(key)]);
  }
  std::map<std::int64_t, Values> points;
  for (const std::int64_t at : heard) {
    points[at].resize(Catalogue(query.type).size());
  }
  for (const auto& [at, values] : summed) {
    if (const auto point = points.find(FloorTo(at, query.step)); point != points.end()) {
      Combine(query.type, values, Gauges::kHighest, point->second);
    }
  }
  std::vector<HistoryPoint> result;
  for (auto& [at, values] : points) {
    result.push_back({.at = at, .values = std::move(values)});
  }
  return result;
}

absl::StatusOr<bool> FakeStore::TendCounterHistory(std::int64_t now,
                                                   const HistoryRetention& retention) {
  if (const auto state = Current(); !state.ok()) {
    return state.status();
  }
  const std::lock_guard lock(mutex_);
  for (std::size_t level = 0; level < counters_from_.size(); ++level) {
    counters_from_[level] = std::max(counters_from_[level], now - retention.keep[level].count());
  }
  return false;
}

}  // namespace croft::control::store
