#include "control/store/migrations.h"

#include <cstdint>

#include "proto/base/error.h"
#include "proto/base/log.h"
#include "proto/base/random.h"

namespace croft::control::store {
namespace {

// Of pg_advisory_lock: "croft" in ASCII.
constexpr std::int64_t kMigrationLock = 0x63726f6674;

absl::StatusOr<int> ReadVersion(Connection& connection) {
  absl::Status status = connection.Execute(
      "CREATE TABLE IF NOT EXISTS schema_migration ("
      "number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT "
      "now())");
  if (!status.ok()) {
    return status;
  }
  const auto rows = connection.Query("SELECT coalesce(max(number), 0) FROM schema_migration");
  return rows.ok() ? absl::StatusOr<int>(static_cast<int>(rows->Int(0, 0))) : rows.status();
}

absl::Status Apply(Connection& connection, const Migration& migration) {
  absl::Status status =
      connection.Execute(fmt::format("BEGIN; {}; INSERT INTO schema_migration (number, name) "
                                     "VALUES ({}, '{}'); COMMIT",
                                     migration.sql, migration.number, migration.name));
  if (!status.ok()) {
    connection.Execute("ROLLBACK").IgnoreError();
    return Error(status.code(), "migration {}: {}", migration.name, std::string(status.message()));
  }
  log::Info("store", "migration applied", {{"migration", std::string(migration.name)}});
  return absl::OkStatus();
}

absl::Status ApplyMissing(Connection& connection) {
  const auto version = ReadVersion(connection);
  if (!version.ok()) {
    return version.status();
  }
  const int newest = AllMigrations().back().number;
  if (*version > newest) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "the database's schema has number {}, this program knows up to {}; start a newer "
                 "croft-control, or restore the backup made before the upgrade",
                 *version, newest);
  }
  for (const Migration& migration : AllMigrations()) {
    if (migration.number <= *version) {
      continue;
    }
    if (absl::Status status = Apply(connection, migration); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

// A history belongs to a PostgreSQL cluster: restored from a dump into another one, it is another
// history.
absl::Status SettleEpoch(Connection& connection) {
  const auto settled = connection.Query(
      "WITH cluster AS ("
      "  SELECT s.system_identifier, c.timeline_id"
      "  FROM pg_control_system() s, pg_control_checkpoint() c)"
      "INSERT INTO head (epoch, system_identifier, timeline)"
      "  SELECT $1::bigint, system_identifier, timeline_id FROM cluster "
      "ON CONFLICT (only_row) DO UPDATE SET"
      "  epoch = CASE WHEN head.system_identifier = excluded.system_identifier"
      "    THEN head.epoch ELSE excluded.epoch END,"
      "  system_identifier = excluded.system_identifier, timeline = excluded.timeline "
      "RETURNING epoch = $1::bigint, revision",
      Params().Int(static_cast<std::int64_t>(RandomId())));
  if (!settled.ok()) {
    return settled.status();
  }
  if (settled->Bool(0, 0)) {
    log::Info("store", "new epoch", {{"rev", std::string(settled->Text(0, 1))}});
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Migrate(Connection& connection) {
  absl::Status status =
      connection.Execute(fmt::format("SELECT pg_advisory_lock({})", kMigrationLock));
  if (!status.ok()) {
    return status;
  }
  status = ApplyMissing(connection);
  if (status.ok()) {
    status = SettleEpoch(connection);
  }
  connection.Execute(fmt::format("SELECT pg_advisory_unlock({})", kMigrationLock)).IgnoreError();
  return status;
}

}  // namespace croft::control::store
