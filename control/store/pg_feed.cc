// What the feed reads: positions, deltas, snapshots; and the wake-up.
#include "control/store/pg_rows.h"
#include "control/store/pg_store_impl.h"
#include "proto/base/error.h"
#include "proto/base/log.h"

namespace croft::control::store {
namespace {

// Rows fetched at once: bounds the memory of a delta of any length.
constexpr int kFetchRows = 2000;

constexpr std::string_view kRecordColumns =
    "r.type, r.uid, coalesce(c.revision, 0), r.deleted, "
    "CASE WHEN r.deleted THEN '' ELSE r.body END";

// The rows of a farm's replica: its members, itself, the platform. %1$s is the farm's uid, a
// number.
std::string ConcernsFarm(std::int64_t farm_uid) {
  return fmt::format(
      "(r.type < 100 AND (r.type = 1 OR (r.type = 2 AND r.uid = {0}) OR r.farm_uid = {0}))",
      farm_uid);
}

node::v1::Record ToRecord(const Rows& rows, int row) {
  node::v1::Record record;
  const auto type = static_cast<int>(rows.Int(row, 0));
  if (node::v1::RecordType_IsValid(type)) {
    record.set_type(static_cast<node::v1::RecordType>(type));
  }
  record.set_uid(rows.Int(row, 1));
  record.set_revision(rows.Int(row, 2));
  record.set_deleted(rows.Bool(row, 3));
  if (!record.deleted()) {
    record.set_body(rows.Bytes(row, 4));
  }
  return record;
}

absl::StatusOr<FeedHead> ReadHead(Connection& connection) {
  const auto rows = connection.Query("SELECT epoch, revision, tag, compaction_floor FROM head");
  if (!rows.ok()) {
    return rows.status();
  }
  if (rows->size() == 0) {
    return Error(absl::StatusCode::kInternal, "database: the table head has no row");
  }
  FeedHead head;
  head.position.set_epoch(static_cast<std::uint64_t>(rows->Int(0, 0)));
  head.position.set_revision(rows->Int(0, 1));
  head.position.set_tag(static_cast<std::uint64_t>(rows->Int(0, 2)));
  head.compaction_floor = rows->Int(0, 3);
  return head;
}

// A node between 0 (an empty replica) and the floor would never hear of what was deleted.
absl::Status CheckAboveFloor(const FeedHead& head, std::int64_t since_revision) {
  if (since_revision > 0 && since_revision < head.compaction_floor) {
    return Error(absl::StatusCode::kOutOfRange,
                 "revision {} is below the compaction floor {}; send a snapshot", since_revision,
                 head.compaction_floor);
  }
  return absl::OkStatus();
}

// From the changes to their rows by index, however the planner's statistics stand: the cost of a
// delta is that of the delta. OFFSET 0 keeps the planner from beginning with the rows, which after
// a large import, not analyzed yet, it takes for few.
std::string DeclareDelta(std::int64_t farm_uid, std::int64_t since_revision) {
  return fmt::format(
      "SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; "
      "SET LOCAL enable_mergejoin = off; "
      "DECLARE delta NO SCROLL CURSOR FOR SELECT {} FROM change c "
      "CROSS JOIN LATERAL (SELECT * FROM resource WHERE change_id = c.change_id OFFSET 0) r "
      "WHERE c.revision > {} AND {} ORDER BY r.type, r.uid",
      kRecordColumns, since_revision, ConcernsFarm(farm_uid));
}

}  // namespace

absl::StatusOr<FeedHead> PgStore::GetHead() {
  FeedHead head;
  const absl::Status status = Run([&](Connection& connection) {
    auto read = ReadHead(connection);
    if (!read.ok()) {
      return read.status();
    }
    head = *std::move(read);
    return absl::OkStatus();
  });
  if (!status.ok()) {
    return status;
  }
  return head;
}

absl::StatusOr<bool> PgStore::KnowsPosition(const node::v1::Position& position) {
  const auto rows = Query(
      "SELECT EXISTS (SELECT 1 FROM head WHERE epoch = $1::bigint AND ("
      "($2::bigint = 0 AND $3::bigint = 0) OR EXISTS ("
      "SELECT 1 FROM change WHERE revision = $2::bigint AND tag = $3::bigint)))",
      Params()
          .Int(static_cast<std::int64_t>(position.epoch()))
          .Int(position.revision())
          .Int(static_cast<std::int64_t>(position.tag())));
  return rows.ok() ? absl::StatusOr<bool>(rows->Bool(0, 0)) : rows.status();
}

// Not repeated when the connection is lost half-way: records were handed out already, and the
// caller starts over.
absl::StatusOr<node::v1::Position> PgStore::ReadDelta(
    std::int64_t farm_uid, std::int64_t since_revision,
    const std::function<void(node::v1::Record)>& emit) {
  auto lease = pool_.Acquire();
  if (!lease.ok()) {
    return lease.status();
  }
  Connection& connection = **lease;
  const auto read = [&]() -> absl::StatusOr<node::v1::Position> {
    absl::Status status = connection.Execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    if (!status.ok()) {
      return status;
    }
    const auto head = ReadHead(connection);
    if (!head.ok()) {
      return head.status();
    }
    status = CheckAboveFloor(*head, since_revision);
    if (status.ok()) {
      status = connection.Execute(DeclareDelta(farm_uid, since_revision));
    }
    if (!status.ok()) {
      return status;
    }
    for (int fetched = kFetchRows; fetched == kFetchRows;) {
      const auto rows = connection.Query(fmt::format("FETCH {} FROM delta", kFetchRows));
      if (!rows.ok()) {
        return rows.status();
      }
      fetched = rows->size();
      for (int row = 0; row < fetched; ++row) {
        emit(ToRecord(*rows, row));
      }
    }
    return head->position;
  };
  auto position = read();
  if (!connection.Execute("ROLLBACK").ok()) {
    lease->Discard();
    pool_.DropIdle();
  }
  return position;
}

absl::StatusOr<std::vector<node::v1::Record>> PgStore::ReadSnapshotChunk(std::int64_t farm_uid,
                                                                         node::v1::RecordType type,
                                                                         std::int64_t after_uid,
                                                                         int limit) {
  const auto rows = Query(
      fmt::format("SELECT {} FROM resource r LEFT JOIN change c ON c.change_id = r.change_id "
                  "WHERE r.type = $1::smallint AND r.uid > $2::bigint AND NOT r.deleted AND {} "
                  "ORDER BY r.uid LIMIT $3::int",
                  kRecordColumns, ConcernsFarm(farm_uid)),
      Params().Int(type).Int(after_uid).Int(limit));
  if (!rows.ok()) {
    return rows.status();
  }
  std::vector<node::v1::Record> records;
  records.reserve(static_cast<std::size_t>(rows->size()));
  for (int row = 0; row < rows->size(); ++row) {
    records.push_back(ToRecord(*rows, row));
  }
  return records;
}

// What has had its time goes along: used-up join tokens, answers to requests after a day, events
// and ended operations after thirty.
absl::Status PgStore::Compact(std::chrono::system_clock::time_point deleted_before) {
  constexpr int kRowsAtOnce = 5000;
  for (int purged = kRowsAtOnce; purged == kRowsAtOnce;) {
    const auto count = Purge(deleted_before, kRowsAtOnce);
    if (!count.ok()) {
      return count.status();
    }
    purged = *count;
  }
  constexpr std::chrono::milliseconds kLimit = std::chrono::minutes(10);
  return Run([&](Connection& connection) {
    return connection.Execute(
        fmt::format("BEGIN; SET LOCAL statement_timeout = {}; "
                    "DELETE FROM request WHERE answered_at < now() - interval '24 hours'; "
                    "DELETE FROM join_token WHERE expires_at < now(); "
                    "DELETE FROM event WHERE happened_at < now() - interval '30 days'; "
                    "DELETE FROM operation WHERE state >= 3 "
                    "AND updated_at < now() - interval '30 days'; COMMIT",
                    kLimit.count()),
        kLimit + std::chrono::seconds(5));
  });
}

// Oldest first. A row that is being undeleted is locked, and no tombstone any more.
absl::StatusOr<int> PgStore::Purge(std::chrono::system_clock::time_point deleted_before,
                                   int limit) {
  const auto rows =
      Query(fmt::format("WITH old AS ("
                        "  SELECT r.type, r.uid, c.revision FROM resource r"
                        "  JOIN change c ON c.change_id = r.change_id"
                        "  WHERE r.deleted AND c.changed_at < {}"
                        "  ORDER BY r.change_id LIMIT $2::int FOR UPDATE OF r SKIP LOCKED),"
                        " purged AS (DELETE FROM resource r USING old"
                        "  WHERE r.type = old.type AND r.uid = old.uid AND r.deleted),"
                        " terms AS (DELETE FROM term t USING old"
                        "  WHERE t.type = old.type AND t.uid = old.uid),"
                        " slots AS (DELETE FROM home_slot s USING old"
                        "  WHERE old.type = 4 AND s.store_uid = old.uid),"
                        " floor AS (UPDATE head SET compaction_floor ="
                        "  greatest(compaction_floor, (SELECT max(revision) FROM old))"
                        "  WHERE EXISTS (SELECT 1 FROM old)) "
                        "SELECT count(*) FROM old",
                        TimeParam(1)),
            Params().Time(deleted_before).Int(limit));
  return rows.ok() ? absl::StatusOr<int>(static_cast<int>(rows->Int(0, 0))) : rows.status();
}

// A new connection counts as a notification: what was sent while there was none is never seen.
absl::StatusOr<bool> PgStore::WaitForNotify(std::chrono::milliseconds timeout) {
  if (listener_ == nullptr) {
    auto opened = Connection::Open(options_, watch_);
    if (!opened.ok()) {
      return opened.status();
    }
    if (absl::Status status = (*opened)->Listen("croft"); !status.ok()) {
      return status;
    }
    const auto alive = (*opened)->Query("SELECT pg_advisory_lock($1::bigint)",
                                        Params().Int(static_cast<std::int64_t>(instance_)));
    if (!alive.ok()) {
      return alive.status();
    }
    listener_ = *std::move(opened);
    return true;
  }
  const auto count = listener_->AwaitNotifications(timeout);
  if (!count.ok()) {
    log::Warn("store", "lost the connection that listens for changes",
              {{"err", std::string(count.status().message())}});
    listener_.reset();
    return count.status();
  }
  return *count > 0;
}

}  // namespace croft::control::store
