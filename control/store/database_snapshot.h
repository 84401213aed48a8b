// One moment of the database, for a backup: what it holds is read here, and a pg_dump that is given
// the snapshot's id sees the same. And what a restore asks of the database it goes into. Blocking;
// one thread.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace croft::control::store {

struct DatabaseFacts {
  int server_version = 0;  // PostgreSQL's number: 150018
  int schema = 0;          // the newest migration
  std::uint64_t epoch = 0;
  std::int64_t revision = 0;
};

class DatabaseSnapshot {
 public:
  // failed_precondition when there is no estate in the database, or one of a newer program.
  static absl::StatusOr<std::unique_ptr<DatabaseSnapshot>> Take(const std::string& url);
  virtual ~DatabaseSnapshot() = default;

  virtual const DatabaseFacts& facts() const = 0;
  // Good for pg_dump as long as this object lives.
  virtual const std::string& id() const = 0;
  // A sealed secret; empty when there is none.
  virtual absl::StatusOr<std::string> ReadSecret(std::string_view key) = 0;
};

// The schema this program makes.
int NewestSchema();

// PostgreSQL's version number of a database that holds nothing; failed_precondition names what it
// holds.
absl::StatusOr<int> CheckEmptyDatabase(const std::string& url);

// SQL for the end of a restore, in its transaction: the history is another one from here on, and no
// number is given a second time that was given between the backup and now: a new account must not
// get the home of one that is not known any more.
std::string NewHistorySql();

// The connection string as libpq's environment variables, for a program whose arguments anyone can
// list.
absl::StatusOr<std::vector<std::string>> ConnectionEnvironment(const std::string& url);

}  // namespace croft::control::store
