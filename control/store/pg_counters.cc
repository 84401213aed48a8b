// Counter history: what is written and read.
#include <algorithm>
#include <map>
#include <utility>

#include "control/store/pg_counter_tables.h"
#include "control/store/pg_store_impl.h"
#include "proto/base/error.h"

namespace croft::control::store {
namespace {

using contract::counters::Catalogue;
using contract::counters::InstanceType;

constexpr std::size_t kRowsPerStatement = 5000;

// One type's part of a step, column by column.
struct Columns {
  std::vector<std::int64_t> uids, nodes;
  std::vector<std::vector<std::int64_t>> values;
};

Columns TakeColumns(const std::vector<const CounterRow*>& rows, std::size_t counters) {
  Columns columns;
  columns.values.resize(counters);
  for (const CounterRow* row : rows) {
    columns.uids.push_back(row->uid);
    columns.nodes.push_back(row->node_uid);
    for (std::size_t i = 0; i < counters; ++i) {
      columns.values[i].push_back(i < row->values.size() ? row->values[i] : 0);
    }
  }
  return columns;
}

absl::Status InsertRows(Connection& connection, const CounterStep& step, InstanceType type,
                        const std::vector<const CounterRow*>& rows) {
  const std::size_t counters = Catalogue(type).size();
  const Columns columns = TakeColumns(rows, counters);
  Params params;
  params.Int(step.at).Int(step.id).Int(static_cast<std::int64_t>(type));
  params.Ints(columns.uids).Ints(columns.nodes);
  std::string arrays = "$4::bigint[], $5::bigint[]";
  std::string values, names;
  for (std::size_t i = 0; i < counters; ++i) {
    params.Ints(columns.values[i]);
    arrays += fmt::format(", ${}::bigint[]", i + 6);
    values += fmt::format(", nullif(c{}, 0)", i + 1);
    names += fmt::format(", c{}", i + 1);
  }
  return connection
      .Query(fmt::format("INSERT INTO counter_10s (at, flush, type, uid, node_uid{0}) "
                         "SELECT $1::bigint, $2::bigint, $3::smallint, uid, node_uid{1} "
                         "FROM unnest({2}) AS r (uid, node_uid{0}) ON CONFLICT DO NOTHING",
                         names, values, arrays),
             params)
      .status();
}

// Longer steps that were made without this one are made again.
constexpr std::string_view kSetBack =
    "UPDATE counter_rollup SET until = $1::bigint / step * step, type = 0, uid = 0, node_uid = 0 "
    "WHERE $1::bigint / step * step < until + CASE WHEN type > 0 THEN 1 ELSE 0 END";

// In one transaction. False: the partition is missing, and nothing was written.
absl::StatusOr<bool> WriteStep(Connection& connection, const CounterStep& step, InstanceType type,
                               const std::vector<const CounterRow*>& rows) {
  if (absl::Status status = connection.Execute("BEGIN; SET LOCAL synchronous_commit = off");
      !status.ok()) {
    return status;
  }
  const auto ready = connection.Query(
      "SELECT pg_advisory_xact_lock_shared($1::bigint), to_regclass($2) IS NOT NULL",
      Params().Int(kCounterLock).Text(CounterPartition(kCounterTables[0], step.at)));
  if (!ready.ok()) {
    return ready.status();
  }
  if (!ready->Bool(0, 1)) {
    const absl::Status ended = connection.Execute("ROLLBACK");
    return ended.ok() ? absl::StatusOr<bool>(false) : ended;
  }
  absl::Status status = InsertRows(connection, step, type, rows);
  if (status.ok()) {
    status = connection.Query(kSetBack, Params().Int(step.at)).status();
  }
  if (status.ok()) {
    status = connection.Execute("COMMIT");
  }
  return status.ok() ? absl::StatusOr<bool>(true) : status;
}

absl::Status MakePartitionFor(Connection& connection, std::int64_t at) {
  absl::Status status =
      connection.Execute(fmt::format("BEGIN; SELECT pg_advisory_xact_lock({})", kCounterLock));
  if (status.ok()) {
    status = MakeCounterPartition(connection, kCounterTables[0], at);
  }
  return status.ok() ? connection.Execute("COMMIT") : status;
}

// Rows of the tables that hold [from, to): each time from the longest steps, up to the query's,
// that are made already.
std::string Sources(const HistoryQuery& query, const std::array<std::int64_t, 3>& until,
                    std::string_view columns, std::string_view where) {
  std::string sources;
  std::int64_t from = query.from;
  for (std::size_t level = query.level + 1; level-- > 0;) {
    const std::int64_t to = level == 0 ? query.to : std::min(query.to, until[level]);
    if (to > from) {
      sources += fmt::format("{}SELECT {} FROM {} WHERE at >= {} AND at < {} AND {}",
                             sources.empty() ? "" : " UNION ALL ", columns,
                             kCounterTables[level].name, from, to, where);
      from = to;
    }
  }
  return sources;
}

std::string OuterColumns(InstanceType type) {
  std::string columns;
  const auto facts = Catalogue(type);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    columns += fmt::format(", least(coalesce({}(c{}), 0), 9223372036854775807)::bigint",
                           facts[i].gauge ? "max" : "sum", i + 1);
  }
  return columns;
}

std::string SummedColumns(InstanceType type) {
  std::string columns;
  for (std::size_t i = 0; i < Catalogue(type).size(); ++i) {
    columns += fmt::format(", sum(c{0}) AS c{0}", i + 1);
  }
  return columns;
}

}  // namespace

absl::Status PgStore::WriteCounters(const CounterStep& step) {
  std::map<InstanceType, std::vector<const CounterRow*>> by_type;
  const auto write = [&](InstanceType type, const std::vector<const CounterRow*>& rows) {
    return Run([&](Connection& connection) {
      auto written = WriteStep(connection, step, type, rows);
      if (written.ok() && !*written) {
        if (absl::Status status = MakePartitionFor(connection, step.at); !status.ok()) {
          return status;
        }
        written = WriteStep(connection, step, type, rows);
      }
      return written.status();
    });
  };
  for (const CounterRow& row : step.rows) {
    std::vector<const CounterRow*>& rows = by_type[row.type];
    rows.push_back(&row);
    if (rows.size() == kRowsPerStatement) {
      if (absl::Status status = write(row.type, rows); !status.ok()) {
        return status;
      }
      rows.clear();
    }
  }
  for (const auto& [type, rows] : by_type) {
    if (!rows.empty()) {
      if (absl::Status status = write(type, rows); !status.ok()) {
        return status;
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<HistoryPoint>> PgStore::ReadCounterHistory(const HistoryQuery& query) {
  const auto marks = Query("SELECT step, until FROM counter_rollup", Params());
  if (!marks.ok()) {
    return marks.status();
  }
  std::array<std::int64_t, 3> until{};
  for (int row = 0; row < marks->size(); ++row) {
    const auto at = std::ranges::find(kHistorySteps, marks->Int(row, 0));
    if (at != kHistorySteps.end()) {
      until[static_cast<std::size_t>(at - kHistorySteps.begin())] = marks->Int(row, 1);
    }
  }
  const std::string node =
      query.node_uid == 0 ? "true" : fmt::format("node_uid = {}", query.node_uid);
  const std::string all =
      query.farm_uid == 0 ? "uid < 0" : fmt::format("uid = {}", -query.farm_uid);
  const std::string named = query.uids.has_value() ? "uid = ANY($2::bigint[])" : all;
  const auto type = static_cast<std::int64_t>(query.type);
  const std::int64_t base = kHistorySteps[query.level];
  const std::string counted =
      Sources(query, until, fmt::format("at, uid, node_uid, {}", ColumnList(query.type)),
              fmt::format("type = {} AND {} AND {}", type, named, node));
  const std::string heard =
      Sources(query, until, "at", fmt::format("type = 1 AND {} AND {}", all, node));
  if (counted.empty()) {
    return std::vector<HistoryPoint>();
  }
  const auto rows = Query(
      fmt::format("WITH kept AS (SELECT at / {0} * {0} AS at{1} FROM ({2}) c"
                  "  GROUP BY at / {0} * {0}, uid, node_uid),"
                  " summed AS (SELECT at{3} FROM kept GROUP BY at),"
                  " heard AS (SELECT DISTINCT at / $1::bigint * $1::bigint AS at FROM ({4}) h) "
                  "SELECT h.at{5} FROM heard h"
                  "  LEFT JOIN summed s ON s.at / $1::bigint * $1::bigint = h.at "
                  "WHERE $2::bigint[] IS NOT NULL GROUP BY h.at ORDER BY h.at",
                  base, ", " + CombinedColumns(query.type), counted, SummedColumns(query.type),
                  heard, OuterColumns(query.type)),
      Params().Int(query.step).Ints(query.uids.value_or(std::vector<std::int64_t>())));
  if (!rows.ok()) {
    return rows.status();
  }
  std::vector<HistoryPoint> points;
  for (int row = 0; row < rows->size(); ++row) {
    HistoryPoint& point = points.emplace_back();
    point.at = rows->Int(row, 0);
    for (int i = 0; i < std::ssize(Catalogue(query.type)); ++i) {
      point.values.push_back(rows->Int(row, i + 1));
    }
  }
  return points;
}

}  // namespace croft::control::store
