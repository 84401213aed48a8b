#include "control/store/pg_transaction.h"

#include "control/store/conflicts.h"
#include "control/store/pg_rows.h"
#include "control/store/row_type.h"
#include "proto/base/error.h"
#include "proto/base/log.h"
#include "proto/base/random.h"

namespace croft::control::store {
namespace {

// What every instance listens on.
constexpr std::string_view kCommitStatement =
    "WITH next AS ("
    "  UPDATE head SET revision = revision + 1, tag = $2::bigint RETURNING revision),"
    " logged AS ("
    "  INSERT INTO change (change_id, revision, tag, who, request_id, reason, changed_at)"
    "  SELECT $1::bigint, revision, $2::bigint, $3, $4, $5,"
    "    timestamptz 'epoch' + $8::bigint * interval '1 microsecond' FROM next"
    "  RETURNING revision),"
    " answered AS ("
    "  INSERT INTO request"
    "    (who, request_id, change_id, revision, fingerprint, answer, counts, answered_at)"
    "  SELECT $3, $4, $1::bigint, revision, $6, $7::bytea, $9::bytea, now()"
    "  FROM next WHERE $4 <> ''"
    "  ON CONFLICT (who, request_id) DO UPDATE SET"
    "    change_id = excluded.change_id, revision = excluded.revision,"
    "    fingerprint = excluded.fingerprint, answer = excluded.answer,"
    "    counts = excluded.counts, answered_at = excluded.answered_at"
    "  WHERE request.answered_at < now() - interval '24 hours'"
    "  RETURNING 1)"
    "SELECT revision, (SELECT count(*) FROM answered), pg_notify('croft', '') FROM logged";

constexpr std::string_view kKeepAnswer =
    "INSERT INTO request"
    "  (who, request_id, change_id, revision, fingerprint, answer, counts, answered_at)"
    "VALUES ($1, $2, $3::bigint, 0, $4, $5::bytea, $6::bytea, now())"
    "ON CONFLICT (who, request_id) DO UPDATE SET"
    "  change_id = excluded.change_id, revision = 0, fingerprint = excluded.fingerprint,"
    "  answer = excluded.answer, counts = excluded.counts, answered_at = excluded.answered_at "
    "WHERE request.answered_at < now() - interval '24 hours'";

// Answers older than a day, a few at each request that leaves one.
constexpr std::string_view kForgetOldRequests =
    "DELETE FROM request WHERE (who, request_id) IN ("
    "  SELECT who, request_id FROM request WHERE answered_at < now() - interval '24 hours'"
    "  LIMIT 20 FOR UPDATE SKIP LOCKED)";

}  // namespace

absl::StatusOr<std::unique_ptr<Transaction>> PgTransaction::Begin(ConnectionPool& pool) {
  absl::Status status;
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto lease = pool.Acquire();
    if (!lease.ok()) {
      return lease.status();
    }
    status = (*lease)->Execute("BEGIN ISOLATION LEVEL READ COMMITTED");
    if (status.ok()) {
      const auto drawn = (*lease)->Query(
          "SELECT nextval('change_id_sequence'), "
          "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint");
      if (drawn.ok()) {
        return std::make_unique<PgTransaction>(pool, *std::move(lease), drawn->Int(0, 0),
                                               drawn->Time(0, 1));
      }
      status = drawn.status();
    }
    lease->Discard();
    pool.DropIdle();
  }
  return status;
}

PgTransaction::PgTransaction(ConnectionPool& pool, ConnectionPool::Lease lease,
                             std::int64_t change_id, std::chrono::system_clock::time_point time)
    : pool_(pool), connection_(std::move(lease)), change_id_(change_id), time_(time) {}

PgTransaction::~PgTransaction() {
  if (open_ && !connection_->Execute("ROLLBACK").ok()) {
    connection_.Discard();
  }
}

absl::StatusOr<std::int64_t> PgTransaction::NextUid(ResourceType type) {
  auto uids = NextUids(type, 1);
  return uids.ok() ? absl::StatusOr<std::int64_t>(uids->front()) : uids.status();
}

absl::StatusOr<std::vector<std::int64_t>> PgTransaction::NextUids(ResourceType /*type*/,
                                                                  int count) {
  const auto rows = connection_->Query(
      "SELECT nextval('uid_sequence') FROM generate_series(1, $1::int)", Params().Int(count));
  if (!rows.ok()) {
    return rows.status();
  }
  std::vector<std::int64_t> uids;
  uids.reserve(static_cast<std::size_t>(count));
  for (int row = 0; row < rows->size(); ++row) {
    uids.push_back(rows->Int(row, 0));
  }
  return uids;
}

absl::StatusOr<std::optional<StoredResource>> PgTransaction::FindForUpdate(std::string_view name) {
  return FindLocked(name, "FOR UPDATE");
}

absl::StatusOr<std::optional<StoredResource>> PgTransaction::Find(std::string_view name) {
  return FindLocked(name, "FOR KEY SHARE");
}

// Two statements: after waiting for a lock the first one's snapshot would join the row with a
// change that is no longer its own.
absl::StatusOr<std::optional<StoredResource>> PgTransaction::FindLocked(std::string_view name,
                                                                        std::string_view lock) {
  const auto parsed = contract::ParseResourceName(name);
  if (!parsed.ok()) {
    return std::nullopt;
  }
  const int type = TypeNumber(parsed->type);
  const auto locked = connection_->Query(
      fmt::format("SELECT uid FROM resource WHERE type = $1::smallint AND name = $2 "
                  "AND NOT deleted {}",
                  lock),
      Params().Int(type).Text(name));
  return locked.ok() ? ReadLocked(type, *locked) : locked.status();
}

absl::StatusOr<std::optional<StoredResource>> PgTransaction::FindDeletedForUpdate(
    std::string_view name, std::int64_t uid) {
  const auto parsed = contract::ParseResourceName(name);
  if (!parsed.ok()) {
    return std::nullopt;
  }
  const int type = TypeNumber(parsed->type);
  const auto locked = connection_->Query(
      "SELECT uid FROM resource WHERE type = $1::smallint AND name = $2 AND deleted "
      "AND body <> '' AND ($3::bigint = 0 OR uid = $3::bigint) "
      "ORDER BY change_id DESC LIMIT 1 FOR UPDATE",
      Params().Int(type).Text(name).Int(uid));
  return locked.ok() ? ReadLocked(type, *locked) : locked.status();
}

absl::StatusOr<std::optional<StoredResource>> PgTransaction::ReadLocked(int type,
                                                                        const Rows& locked) {
  if (locked.size() == 0) {
    return std::nullopt;
  }
  const auto rows = connection_->Query(
      fmt::format("{} WHERE r.type = $1::smallint AND r.uid = $2::bigint", kSelectResource),
      Params().Int(type).Int(locked.Int(0, 0)));
  if (!rows.ok()) {
    return rows.status();
  }
  return rows->size() == 0 ? std::nullopt : std::optional(ToStoredResource(*rows, 0));
}

absl::StatusOr<std::vector<StoredResource>> PgTransaction::FindMany(
    ResourceType type, const std::vector<std::string>& names) {
  const auto rows = connection_->Query(
      fmt::format("{} WHERE r.type = $1::smallint AND r.name = ANY ($2::text[]) AND NOT r.deleted",
                  kSelectResource),
      Params().Int(TypeNumber(type)).Texts(names));
  return rows.ok() ? absl::StatusOr<std::vector<StoredResource>>(ToStoredResources(*rows))
                   : rows.status();
}

absl::StatusOr<std::vector<StoredResource>> PgTransaction::FindStores(std::int64_t farm_uid) {
  const auto rows = connection_->Query(
      fmt::format("{} WHERE r.type = $1::smallint AND r.farm_uid = $2::bigint AND NOT r.deleted "
                  "ORDER BY r.name",
                  kSelectResource),
      Params().Int(TypeNumber(ResourceType::kStore)).Int(farm_uid));
  return rows.ok() ? absl::StatusOr<std::vector<StoredResource>>(ToStoredResources(*rows))
                   : rows.status();
}

absl::Status PgTransaction::Try(const std::function<absl::Status()>& work) {
  absl::Status status = connection_->Execute("SAVEPOINT attempt");
  if (!status.ok()) {
    return status;
  }
  status = work();
  if (status.ok()) {
    return connection_->Execute("RELEASE SAVEPOINT attempt");
  }
  const absl::Status undone =
      connection_->Execute("ROLLBACK TO SAVEPOINT attempt; RELEASE SAVEPOINT attempt");
  return undone.ok() ? status : undone;
}

absl::StatusOr<CommittedChange> PgTransaction::Commit(const ChangeInfo& info) {
  if (!info.request_id.empty()) {
    if (auto forgotten = connection_->Query(kForgetOldRequests); !forgotten.ok()) {
      return forgotten.status();
    }
  }
  CommittedChange change;
  change.tag = RandomId();
  const auto logged =
      connection_->Query(kCommitStatement, Params()
                                               .Int(change_id_)
                                               .Int(static_cast<std::int64_t>(change.tag))
                                               .Text(info.who)
                                               .Text(info.request_id)
                                               .Text(info.reason)
                                               .Text(info.request_fingerprint)
                                               .Bytes(info.answer)
                                               .Time(time_)
                                               .Bytes(info.counts.SerializeAsString()));
  if (!logged.ok()) {
    return logged.status();
  }
  if (logged->size() == 0) {
    return Error(absl::StatusCode::kInternal, "database: the table head has no row");
  }
  if (!info.request_id.empty() && logged->Int(0, 1) == 0) {
    return Conflict("the request id " + info.request_id);
  }
  change.revision = logged->Int(0, 0);
  const absl::Status status = connection_->Execute("COMMIT");
  open_ = false;
  if (status.ok()) {
    return change;
  }
  if (!connection_->broken()) {
    return status;  // refused by the server: rolled back
  }
  return ResolveCommit(change, status);
}

absl::Status PgTransaction::CommitAnswer(const ChangeInfo& info) {
  if (!info.request_id.empty()) {
    if (absl::Status status = KeepAnswer(info); !status.ok()) {
      return status;
    }
  }
  open_ = false;
  const absl::Status status = connection_->Execute("COMMIT");
  if (!status.ok()) {
    connection_.Discard();
  }
  return status;
}

absl::Status PgTransaction::KeepAnswer(const ChangeInfo& info) {
  if (auto forgotten = connection_->Query(kForgetOldRequests); !forgotten.ok()) {
    return forgotten.status();
  }
  const auto kept = connection_->Query(kKeepAnswer, Params()
                                                        .Text(info.who)
                                                        .Text(info.request_id)
                                                        .Int(change_id_)
                                                        .Text(info.request_fingerprint)
                                                        .Bytes(info.answer)
                                                        .Bytes(info.counts.SerializeAsString()));
  if (!kept.ok()) {
    return kept.status();
  }
  return kept->affected() == 0 ? Conflict("the request id " + info.request_id) : absl::OkStatus();
}

// Inserting the same change row waits for a backend that may still be committing; what it then
// finds is the answer.
absl::StatusOr<CommittedChange> PgTransaction::ResolveCommit(CommittedChange change,
                                                             const absl::Status& lost) {
  connection_.Discard();
  pool_.DropIdle();
  const absl::Status unknown =
      Error(absl::StatusCode::kUnknown,
            "the outcome of change {} is in doubt: {}; ask again with the same request id",
            change_id_, std::string(lost.message()));
  auto lease = pool_.Acquire();
  if (!lease.ok()) {
    return unknown;
  }
  Connection& connection = **lease;
  if (!connection.Execute("BEGIN").ok()) {
    return unknown;
  }
  const auto probe = connection.Query(
      "INSERT INTO change (change_id, revision, tag, who, request_id, reason, changed_at) "
      "VALUES ($1::bigint, -$1::bigint, 0, '', '', '', now()) ON CONFLICT (change_id) DO NOTHING",
      Params().Int(change_id_));
  const bool rolled_back = connection.Execute("ROLLBACK").ok();
  if (!probe.ok() || !rolled_back) {
    lease->Discard();
    return unknown;
  }
  const bool committed = probe->affected() == 0;
  log::Warn("store", "connection lost at commit",
            {{"rev", std::to_string(change.revision)}, {"committed", committed ? "yes" : "no"}});
  if (!committed) {
    return Error(absl::StatusCode::kUnavailable, "{}; nothing was changed",
                 std::string(lost.message()));
  }
  return change;
}

}  // namespace croft::control::store
