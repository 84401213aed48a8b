#include "control/store/database_snapshot.h"

#include <libpq-fe.h>

#include <utility>

#include "control/store/migrations.h"
#include "control/store/pg_connection.h"
#include "proto/base/error.h"
#include "proto/base/random.h"

namespace croft::control::store {
namespace {

// How many numbers of a sequence are left out at a restore: more than any estate draws in years.
constexpr std::int64_t kSkippedNumbers = 1'000'000'000;

PgOptions PatientOptions(const std::string& url) {
  PgOptions options;
  options.url = url;
  options.url = WithDefaults(options);
  options.statement_timeout = options.lock_timeout = std::chrono::minutes(10);
  options.answer_timeout = options.statement_timeout + std::chrono::seconds(5);
  return options;
}

class PgSnapshot final : public DatabaseSnapshot {
 public:
  absl::Status Open(const std::string& url);
  const DatabaseFacts& facts() const override { return facts_; }
  const std::string& id() const override { return id_; }
  absl::StatusOr<std::string> ReadSecret(std::string_view key) override;

 private:
  absl::Status ReadSchema();

  AnswerWatch watch_;
  std::unique_ptr<Connection> connection_;
  DatabaseFacts facts_;
  std::string id_;
};

absl::Status PgSnapshot::Open(const std::string& url) {
  auto connection = Connection::Open(PatientOptions(url), watch_);
  if (!connection.ok()) {
    return connection.status();
  }
  connection_ = *std::move(connection);
  // The dump may take longer than an idle transaction may elsewhere.
  absl::Status status = connection_->Execute(
      "SET idle_in_transaction_session_timeout = 0; "
      "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  if (status.ok()) {
    status = ReadSchema();
  }
  if (!status.ok()) {
    return status;
  }
  const auto head = connection_->Query("SELECT epoch, revision, pg_export_snapshot() FROM head");
  if (!head.ok()) {
    return head.status();
  }
  if (head->size() == 0) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "the database holds no estate yet; start croft-control on it first");
  }
  facts_.epoch = static_cast<std::uint64_t>(head->Int(0, 0));
  facts_.revision = head->Int(0, 1);
  id_ = head->Text(0, 2);
  return absl::OkStatus();
}

absl::Status PgSnapshot::ReadSchema() {
  const auto about = connection_->Query(
      "SELECT current_setting('server_version_num'), to_regclass('schema_migration') IS NOT NULL");
  if (!about.ok()) {
    return about.status();
  }
  if (!about->Bool(0, 1)) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "the database holds no estate of Croft; give the --data-dir or --database-url "
                 "that croft-control runs with");
  }
  const auto schema = connection_->Query("SELECT coalesce(max(number), 0) FROM schema_migration");
  if (!schema.ok()) {
    return schema.status();
  }
  facts_.server_version = static_cast<int>(about->Int(0, 0));
  facts_.schema = static_cast<int>(schema->Int(0, 0));
  if (facts_.schema > NewestSchema()) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "the database's schema has number {}, this program knows up to {}; use the newer "
                 "croft-control that runs on it",
                 facts_.schema, NewestSchema());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> PgSnapshot::ReadSecret(std::string_view key) {
  const auto rows =
      connection_->Query("SELECT value FROM secret WHERE key = $1", Params().Text(key));
  if (!rows.ok()) {
    return rows.status();
  }
  return rows->size() == 0 ? std::string() : rows->Bytes(0, 0);
}

}  // namespace

absl::StatusOr<std::unique_ptr<DatabaseSnapshot>> DatabaseSnapshot::Take(const std::string& url) {
  auto snapshot = std::make_unique<PgSnapshot>();
  if (absl::Status status = snapshot->Open(url); !status.ok()) {
    return status;
  }
  return snapshot;
}

int NewestSchema() { return AllMigrations().back().number; }

absl::StatusOr<int> CheckEmptyDatabase(const std::string& url) {
  AnswerWatch watch;
  const auto connection = Connection::Open(PatientOptions(url), watch);
  if (!connection.ok()) {
    return connection.status();
  }
  const auto rows = (*connection)
                        ->Query(
                            "SELECT current_setting('server_version_num'), current_database(), ("
                            "  SELECT min(n.nspname || '.' || c.relname)"
                            "  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                            "  WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'"
                            "  AND NOT EXISTS (SELECT 1 FROM pg_depend d"
                            "    WHERE d.objid = c.oid AND d.deptype = 'e'))");
  if (!rows.ok()) {
    return rows.status();
  }
  if (!rows->Text(0, 2).empty()) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "the database {} isn't empty, it has {}; a backup is restored into an empty one: "
                 "createdb ANOTHER, and name that in --database-url",
                 rows->Text(0, 1), rows->Text(0, 2));
  }
  return static_cast<int>(rows->Int(0, 0));
}

std::string NewHistorySql() {
  return fmt::format(
      "UPDATE head SET epoch = {}, system_identifier = s.system_identifier,"
      "  timeline = c.timeline_id FROM pg_control_system() s, pg_control_checkpoint() c;\n"
      "SELECT setval('uid_sequence', nextval('uid_sequence') + {});\n"
      "SELECT setval('change_id_sequence', nextval('change_id_sequence') + {});\n",
      static_cast<std::int64_t>(RandomId()), kSkippedNumbers, kSkippedNumbers);
}

absl::StatusOr<std::vector<std::string>> ConnectionEnvironment(const std::string& url) {
  char* problem = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(
      PQconninfoParse(WithDefaults({.url = url}).c_str(), &problem), PQconninfoFree);
  if (options == nullptr) {
    const std::unique_ptr<char, decltype(&PQfreemem)> text(problem, PQfreemem);
    return Error(absl::StatusCode::kInvalidArgument, "--database-url: {}",
                 problem == nullptr ? "out of memory" : problem);
  }
  std::vector<std::string> variables;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr && option->envvar != nullptr) {
      variables.push_back(fmt::format("{}={}", option->envvar, option->val));
    }
  }
  return variables;
}

}  // namespace croft::control::store
