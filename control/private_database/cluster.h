// The cluster's directory: which PostgreSQL it needs, and how it is made.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>

#include "control/private_database/child_process.h"

namespace croft::control::private_database {

// <data-dir>/pg and what lies in it.
struct Places {
  explicit Places(const std::string& data_dir);

  std::string root;       // <data-dir>/pg, the database's user's
  std::string cluster;    // <data-dir>/pg/cluster
  std::string start_log;  // what the server says before its log is open
  std::string log_dir;
  std::string password;  // <data-dir>/pg.password, control's own
  std::string lock;      // <data-dir>/pg.lock
};

inline constexpr char kDatabase[] = "croft";
inline constexpr char kUser[] = "croft";

// The directory with postgres and initdb: `bin_dir` if given, otherwise that of the cluster's major
// version, or the newest for a new cluster. failed_precondition names the package, or the ways from
// one major version to another.
absl::StatusOr<std::string> FindBinaries(const Places& places, const std::string& bin_dir);

// The directory with the client programs (pg_dump, pg_restore, psql) of a major version;
// failed_precondition names the package.
absl::StatusOr<std::string> FindClientPrograms(int major);

// Makes the directories and the cluster, if they are not there: checksums on, password
// authentication, the database "croft". A half-made one of an earlier attempt is removed first.
absl::Status CreateCluster(const Places& places, const std::string& bin_dir,
                           const Identity& identity);

// The password, drawn and kept (0600) at the first call.
absl::StatusOr<std::string> ReadOrMakePassword(const Places& places);

}  // namespace croft::control::private_database
