// A PostgreSQL cluster of control's own, in its data directory: made on first start, reached by a
// unix socket only, kept running, stopped with control. A server that outlived a crash of control
// is adopted. Thread-safe after Start.
#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <memory>
#include <string>

namespace croft::control::private_database {

struct Options {
  // Control's data directory; the cluster is its "pg". Must exist.
  std::string data_dir = {};
  // Where postgres and initdb are; empty: /usr/lib/postgresql/<major>/bin.
  std::string bin_dir = {};
  // Whose the cluster is when control runs as root (PostgreSQL refuses root). Needs an entry in
  // passwd.
  std::string os_user = "postgres";
  // Crash recovery may take its time.
  std::chrono::seconds start_timeout{300};
  std::chrono::seconds stop_timeout{60};
};

class PrivateDatabase {
 public:
  // Returns when the server answers. failed_precondition, with the way out, when there is no
  // PostgreSQL, another major version, no permission, or another control on the same directory.
  static absl::StatusOr<std::unique_ptr<PrivateDatabase>> Start(const Options& options);

  // The connection string of the server of a running control on that data directory; not_found
  // when none runs there.
  static absl::StatusOr<std::string> FindRunning(const std::string& data_dir);

  virtual ~PrivateDatabase() = default;

  // A libpq connection string with the password in it. Stays the same while the server is
  // restarted.
  virtual const std::string& url() const = 0;
  // The server's process now, 0 while it is being restarted.
  virtual int server_pid() const = 0;
  // Whether Start found the server running.
  virtual bool adopted() const = 0;
  // Fast shutdown: open transactions are rolled back, what was committed is on disk. Also done by
  // the destructor.
  virtual void Stop() = 0;
};

}  // namespace croft::control::private_database
