// pg_dump and pg_restore, run so that no argument of theirs holds a password.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "control/private_database/child_process.h"

namespace croft::control::backup {

struct PgTools {
  std::string bin_dir;
  std::vector<std::string> environment;
  private_database::Identity identity;

  // The programs of that version of PostgreSQL (its version number), connecting by `url` as `uid`.
  static absl::StatusOr<PgTools> Find(int server_version, const std::string& url, uid_t uid);
};

// The database as the snapshot shows it, in pg_dump's custom format, piece by piece.
absl::Status DumpDatabase(const PgTools& tools, const std::string& snapshot_id,
                          const std::function<absl::Status(std::string_view)>& take);

// Into an empty database, in one transaction that ends with `last_sql`: all of it or nothing.
absl::Status LoadDatabase(const PgTools& tools, const std::string& dump,
                          const std::string& last_sql);

}  // namespace croft::control::backup
