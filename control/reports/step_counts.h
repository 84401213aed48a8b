// What nodes counted in the current step of ten seconds, for counter history: the growth of
// counters and the highest value of gauges, of each instance on each node and of all together. Only
// what changed, or whose gauges are not zero, is held. Pure; not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "control/reports/ranking.h"
#include "control/store/counter_history.h"
#include "proto/contract/counters.h"

namespace croft::control::reports {

using contract::counters::InstanceType;

// A node's counters since control first heard of it, without what it had counted before: nothing
// leaps when a node comes from another control.
struct NodeSums {
  std::int64_t farm_uid = 0;
  std::map<InstanceType, std::vector<std::int64_t>> sums;  // gauges: now
};

// Instances with a row of their own in one step; the others are in the sums only.
inline constexpr std::size_t kStepRowsMax = 100'000;
// Rows of closed steps that wait to be taken; the oldest steps go first.
inline constexpr std::size_t kClosedRowsMax = 300'000;

class StepCounts {
 public:
  // `now`: seconds since 1970. Closes the current step when it lies in another.
  void Advance(std::int64_t now);
  // The node is there, whatever it counts.
  void Hear(std::int64_t node_uid, std::int64_t farm_uid);
  // A counter's growth, a gauge's difference. REQUIRES: the node was heard.
  void Add(std::int64_t node_uid, InstanceType type, std::int64_t uid,
           std::span<const std::int64_t> change);
  // Closed ones, oldest first; with `all`, the current one as far as it got, too.
  std::vector<store::CounterStep> Take(bool all);

  const std::map<std::int64_t, NodeSums>& sums() const { return sums_; }
  // Of sites or pools, by requests.
  std::vector<std::int64_t> Busiest(InstanceType type, std::size_t limit) const;
  // Rows that were dropped, or never made, because there were too many.
  std::uint64_t rows_lost() const { return rows_lost_; }

 private:
  using Key = std::pair<InstanceType, std::int64_t>;
  struct Entry {
    std::vector<std::int64_t> values;
    std::vector<std::int64_t> gauges;  // now; 0 for counters
  };
  struct Node {
    std::int64_t farm_uid = 0;
    bool heard = false;  // in this step
    std::map<Key, Entry> entries;
  };

  static void Apply(InstanceType type, std::span<const std::int64_t> change, Entry& entry);
  static std::map<Key, Entry> CarryOver(const std::map<Key, Entry>& entries);
  void Close();
  void Rank(const std::vector<store::CounterRow>& rows);

  std::int64_t at_ = 0;  // of the current step
  std::map<std::int64_t, Node> nodes_;
  std::size_t rows_ = 0;
  std::map<std::int64_t, NodeSums> sums_;
  std::vector<store::CounterStep> closed_;
  std::size_t closed_rows_ = 0;
  std::uint64_t rows_lost_ = 0;
  std::map<InstanceType, Ranking> rankings_;
};

}  // namespace croft::control::reports
