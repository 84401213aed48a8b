// Counter history as the store keeps it: what each instance counted on each node, in steps of ten
// seconds, a minute and an hour. Only the first are written; the store makes the others of them.
// Times are seconds since 1970, at a step's beginning.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "proto/contract/counters.h"

namespace croft::control::store {

// Finest first; each divides the next.
inline constexpr std::array<std::int64_t, 3> kHistorySteps = {10, 60, 3600};

// How long the steps of each length are kept.
struct HistoryRetention {
  std::array<std::chrono::seconds, 3> keep = {std::chrono::hours(6), std::chrono::hours(24 * 14),
                                              std::chrono::hours(24 * 365 * 2)};
};

struct CounterRow {
  contract::counters::InstanceType type = contract::counters::InstanceType::kNode;
  // The instance's; -F: the sum over all instances of the type in farm F. The one of kNode is there
  // for every node that was heard from.
  std::int64_t uid = 0;
  std::int64_t node_uid = 0;
  // In the order of the type's catalogue: a counter's growth, a gauge's highest value.
  std::vector<std::int64_t> values = {};
};

// A step of ten seconds, or a part of it. What is written again under its id changes nothing; other
// parts add up.
struct CounterStep {
  std::int64_t id = 0;
  std::int64_t at = 0;
  std::vector<CounterRow> rows;
};

struct HistoryQuery {
  contract::counters::InstanceType type = contract::counters::InstanceType::kSite;
  // Of instances, which are added up; nullopt: all of the farm's.
  std::optional<std::vector<std::int64_t>> uids = std::nullopt;
  std::int64_t farm_uid = 0;      // 0: all farms
  std::int64_t node_uid = 0;      // 0: the sum over nodes
  std::size_t level = 0;          // the kept steps to read, of kHistorySteps
  std::int64_t step = 10;         // of the points: a multiple of theirs
  std::int64_t from = 0, to = 0;  // multiples of `step`
};

struct HistoryPoint {
  std::int64_t at = 0;
  std::vector<std::int64_t> values;

  bool operator==(const HistoryPoint&) const = default;
};

}  // namespace croft::control::store
