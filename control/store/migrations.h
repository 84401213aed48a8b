// The schema's numbered steps, compiled in from migrations/NNNN_name.sql.
#pragma once

#include <absl/status/status.h>

#include <span>
#include <string_view>

#include "control/store/pg_connection.h"

namespace croft::control::store {

struct Migration {
  int number = 0;
  std::string_view name;  // "0001_first"
  std::string_view sql;
};

// In order, without gaps.
std::span<const Migration> AllMigrations();

// Brings the database to the program's schema, each step in a transaction of its own, one instance
// at a time. failed_precondition when the database is newer than the program. Then sees to the
// epoch: made with the database, made anew when the cluster is another.
absl::Status Migrate(Connection& connection);

}  // namespace croft::control::store
