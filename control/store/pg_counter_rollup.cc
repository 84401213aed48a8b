// Counter history: partitions, longer steps, what is dropped. One round is one transaction, alone
// under the lock.
#include <algorithm>
#include <limits>
#include <vector>

#include "control/store/pg_counter_tables.h"
#include "control/store/pg_store_impl.h"
#include "proto/base/error.h"

namespace croft::control::store {
namespace {

using contract::counters::Catalogue;
using contract::counters::InstanceType;

constexpr std::int64_t kBefore = std::numeric_limits<std::int64_t>::min();
// A step is made when what belongs to it has had this long to be written; what comes later still
// has it made again.
constexpr std::int64_t kGrace = 15;
// Rows a round makes, and steps without a row that it passes.
constexpr std::int64_t kRowsPerRound = 50'000;
constexpr int kStepsPerRound = 120;
constexpr std::int64_t kTypeFirst = static_cast<std::int64_t>(InstanceType::kNode);
constexpr std::int64_t kTypeLast = static_cast<std::int64_t>(InstanceType::kStore);

// How far a table is made (counter_rollup).
struct Mark {
  std::int64_t until = 0;
  std::int64_t type = 0;  // 0: nothing of the step at `until` is made yet
  std::int64_t uid = kBefore, node_uid = kBefore;
};

// Beginnings of a table's partitions, oldest first.
absl::StatusOr<std::vector<std::int64_t>> ListPartitions(Connection& connection,
                                                         const CounterTable& table) {
  const auto rows = connection.Query(
      "SELECT substring(c.relname FROM '[0-9]+$')::bigint FROM pg_inherits i "
      "JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = to_regclass($1) ORDER BY 1",
      Params().Text(table.name));
  if (!rows.ok()) {
    return rows.status();
  }
  std::vector<std::int64_t> begins;
  for (int row = 0; row < rows->size(); ++row) {
    begins.push_back(rows->Int(row, 0));
  }
  return begins;
}

absl::StatusOr<Mark> ReadMark(Connection& connection, const CounterTable& table) {
  const auto rows = connection.Query(
      "SELECT until, type, uid, node_uid FROM counter_rollup WHERE step = $1::bigint",
      Params().Int(table.step));
  if (!rows.ok()) {
    return rows.status();
  }
  if (rows->size() == 0) {
    return Error(absl::StatusCode::kInternal, "counter_rollup has no row for {}", table.name);
  }
  Mark mark{.until = rows->Int(0, 0), .type = rows->Int(0, 1)};
  if (mark.type != 0) {
    mark.uid = rows->Int(0, 2);
    mark.node_uid = rows->Int(0, 3);
  }
  return mark;
}

absl::Status WriteMark(Connection& connection, const CounterTable& table, const Mark& mark) {
  return connection
      .Query(
          "UPDATE counter_rollup SET until = $2::bigint, type = $3::smallint, uid = $4::bigint, "
          "node_uid = $5::bigint WHERE step = $1::bigint",
          Params().Int(table.step).Int(mark.until).Int(mark.type).Int(mark.uid).Int(mark.node_uid))
      .status();
}

// Makes up to `limit` rows of the mark's type in the step at the mark, after (uid, node_uid); moves
// the mark behind them. How many they were.
absl::StatusOr<std::int64_t> MakeRows(Connection& connection, std::size_t level, Mark& mark,
                                      std::int64_t limit) {
  const auto type = static_cast<InstanceType>(mark.type);
  const CounterTable& table = kCounterTables[level];
  const auto rows = connection.Query(
      fmt::format("WITH made AS (INSERT INTO {0} (type, at, uid, node_uid, {1}) "
                  "  SELECT {2}, {3}, uid, node_uid, {4} FROM {5} WHERE at >= {3} AND at < {6}"
                  "  AND type = {2} AND (uid, node_uid) > ($1::bigint, $2::bigint)"
                  "  GROUP BY uid, node_uid ORDER BY uid, node_uid LIMIT $3::bigint"
                  "  ON CONFLICT (type, uid, at, node_uid) DO UPDATE SET {7}"
                  "  RETURNING uid, node_uid) "
                  "SELECT uid, node_uid, (SELECT count(*) FROM made) FROM made "
                  "ORDER BY uid DESC, node_uid DESC LIMIT 1",
                  table.name, ColumnList(type), mark.type, mark.until, CombinedColumns(type),
                  kCounterTables[level - 1].name, mark.until + table.step, ColumnList(type, true)),
      Params().Int(mark.uid).Int(mark.node_uid).Int(limit));
  if (!rows.ok()) {
    return rows.status();
  }
  if (rows->size() == 0) {
    return 0;
  }
  mark.uid = rows->Int(0, 0);
  mark.node_uid = rows->Int(0, 1);
  return rows->Int(0, 2);
}

// The step at the mark, or as much of it as a round may make; how many rows.
absl::StatusOr<std::int64_t> MakeStep(Connection& connection, std::size_t level, Mark& mark,
                                      std::int64_t limit) {
  const CounterTable& table = kCounterTables[level];
  if (mark.type == 0) {
    const auto any = connection.Query(
        fmt::format("SELECT EXISTS (SELECT FROM {} WHERE at >= {} AND at < {})",
                    kCounterTables[level - 1].name, mark.until, mark.until + table.step));
    if (!any.ok()) {
      return any.status();
    }
    if (!any->Bool(0, 0)) {
      mark.until += table.step;
      return 0;
    }
    if (absl::Status status = MakeCounterPartition(connection, table, mark.until); !status.ok()) {
      return status;
    }
    mark.type = kTypeFirst;
  }
  std::int64_t made = 0;
  while (mark.type <= kTypeLast) {
    const auto rows = MakeRows(connection, level, mark, limit - made);
    if (!rows.ok()) {
      return rows.status();
    }
    made += *rows;
    if (made >= limit) {
      return made;
    }
    mark = {.until = mark.until, .type = mark.type + 1};
  }
  mark = {.until = mark.until + table.step};
  return made;
}

// Makes a table's steps that are due; the mark then reached. `more`: a round was not enough.
absl::StatusOr<Mark> RollUp(Connection& connection, std::size_t level, std::int64_t due,
                            bool& more) {
  const CounterTable& table = kCounterTables[level];
  auto mark = ReadMark(connection, table);
  const auto partitions = ListPartitions(connection, kCounterTables[level - 1]);
  if (!mark.ok() || !partitions.ok()) {
    return mark.ok() ? partitions.status() : mark.status();
  }
  // Before its first partition there is nothing.
  const std::int64_t first = partitions->empty() ? due : partitions->front();
  if (mark->until < FloorTo(first, table.step)) {
    *mark = {.until = FloorTo(first, table.step)};
  }
  std::int64_t made = 0;
  for (int steps = 0; mark->until + table.step <= due; ++steps) {
    if (made >= kRowsPerRound || steps >= kStepsPerRound) {
      more = true;
      break;
    }
    const auto rows = MakeStep(connection, level, *mark, kRowsPerRound - made);
    if (!rows.ok()) {
      return rows.status();
    }
    made += *rows;
  }
  const absl::Status status = WriteMark(connection, table, *mark);
  return status.ok() ? mark : absl::StatusOr<Mark>(status);
}

// Drops partitions whose time is over, and of which longer steps are made.
absl::Status DropOld(Connection& connection, const CounterTable& table, std::int64_t before) {
  const auto partitions = ListPartitions(connection, table);
  if (!partitions.ok()) {
    return partitions.status();
  }
  for (const std::int64_t begin : *partitions) {
    if (begin + table.partition > before) {
      continue;
    }
    absl::Status status = connection.Execute("DROP TABLE " + CounterPartition(table, begin));
    if (!status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status MakeAhead(Connection& connection, std::int64_t now) {
  for (const CounterTable& table : kCounterTables) {
    for (const std::int64_t at : {now, now + table.partition}) {
      if (absl::Status status = MakeCounterPartition(connection, table, at); !status.ok()) {
        return status;
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Tend(Connection& connection, std::int64_t now, const HistoryRetention& retention,
                  bool& more) {
  if (absl::Status status = MakeAhead(connection, now); !status.ok()) {
    return status;
  }
  std::int64_t made = now - kGrace;
  for (std::size_t level = 0; level < kCounterTables.size(); ++level) {
    if (level + 1 == kCounterTables.size()) {
      made = now;
    } else {
      const auto mark = RollUp(connection, level + 1, made, more);
      if (!mark.ok()) {
        return mark.status();
      }
      made = mark->until;
    }
    const std::int64_t old = now - retention.keep[level].count();
    if (absl::Status status = DropOld(connection, kCounterTables[level], std::min(old, made));
        !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string CounterPartition(const CounterTable& table, std::int64_t at) {
  return fmt::format("{}_{}", table.name, FloorTo(at, table.partition));
}

absl::Status MakeCounterPartition(Connection& connection, const CounterTable& table,
                                  std::int64_t at) {
  const std::string name = CounterPartition(table, at);
  const auto there = connection.Query("SELECT to_regclass($1) IS NOT NULL", Params().Text(name));
  if (!there.ok() || there->Bool(0, 0)) {
    return there.status();
  }
  const std::int64_t begin = FloorTo(at, table.partition);
  return connection.Execute(
      fmt::format("CREATE TABLE {} PARTITION OF {} FOR VALUES FROM ({}) TO ({})", name, table.name,
                  begin, begin + table.partition));
}

std::string CombinedColumns(InstanceType type) {
  std::string columns;
  const auto facts = Catalogue(type);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    columns += fmt::format(
        "{0}nullif(least(coalesce({1}(c{2}), 0), 9223372036854775807), 0)::bigint AS c{2}",
        i == 0 ? "" : ", ", facts[i].gauge ? "max" : "sum", i + 1);
  }
  return columns;
}

std::string ColumnList(InstanceType type, bool excluded) {
  std::string columns;
  for (std::size_t i = 1; i <= Catalogue(type).size(); ++i) {
    columns += fmt::format("{}c{}", i == 1 ? "" : ", ", i);
    if (excluded) {
      columns += fmt::format(" = excluded.c{}", i);
    }
  }
  return columns;
}

absl::StatusOr<bool> PgStore::TendCounterHistory(std::int64_t now,
                                                 const HistoryRetention& retention) {
  bool more = false;
  const absl::Status status = Run([&](Connection& connection) {
    more = false;
    absl::Status done = connection.Execute(fmt::format(
        "BEGIN; SET LOCAL lock_timeout = 3000; SELECT pg_advisory_xact_lock({})", kCounterLock));
    if (done.ok()) {
      done = Tend(connection, now, retention, more);
    }
    return done.ok() ? connection.Execute("COMMIT") : done;
  });
  return status.ok() ? absl::StatusOr<bool>(more) : status;
}

}  // namespace croft::control::store
