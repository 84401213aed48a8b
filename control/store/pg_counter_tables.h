// The tables of counter history: one per kept step, partitioned by time. All that changes them
// holds one advisory lock: shared to write a batch, alone to make partitions and longer steps, so
// that no batch comes between a minute's rows and the minute made of them.
#pragma once

#include <absl/status/status.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "control/store/counter_history.h"
#include "control/store/pg_connection.h"

namespace croft::control::store {

struct CounterTable {
  std::string_view name;
  std::int64_t step;
  std::int64_t partition;  // seconds in a partition
};

inline constexpr std::array<CounterTable, 3> kCounterTables = {
    CounterTable{"counter_10s", kHistorySteps[0], 3600},
    CounterTable{"counter_1m", kHistorySteps[1], 24 * 3600},
    CounterTable{"counter_1h", kHistorySteps[2], 30 * 24 * 3600}};

// Of pg_advisory_xact_lock: "croftcnt" in ASCII.
inline constexpr std::int64_t kCounterLock = 0x63726f6674636e74;

constexpr std::int64_t FloorTo(std::int64_t time, std::int64_t step) { return time / step * step; }

// "counter_10s_1764547200", the partition that a time falls in.
std::string CounterPartition(const CounterTable& table, std::int64_t at);
// REQUIRES: a transaction that holds the lock alone.
absl::Status MakeCounterPartition(Connection& connection, const CounterTable& table,
                                  std::int64_t at);

// "sum(c1), max(c2), ...": how rows of a type come together, each as `c1`, `c2`, ...
std::string CombinedColumns(contract::counters::InstanceType type);
// "c1, c2, ..."; with `excluded`: "c1 = excluded.c1, ...".
std::string ColumnList(contract::counters::InstanceType type, bool excluded = false);

}  // namespace croft::control::store
