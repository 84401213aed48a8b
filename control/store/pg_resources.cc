// Resources, as readers see them, and the log of changes.
#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include "control/store/pg_rows.h"
#include "control/store/pg_store_impl.h"
#include "control/store/row_type.h"

namespace croft::control::store {
namespace {

// Most resources listed with one change: an import's change has thousands.
constexpr int kChangedResourcesMax = 100;

// Changes and what each touched: created rows are known by the row (or the history of its first
// replacement), others by history. $1 revision to stay below, $2 limit of changes, $3 limit of
// resources per change; {} a condition on `change c`.
constexpr std::string_view kListChanges =
    "WITH chosen AS ("
    "  SELECT c.* FROM change c WHERE c.revision < $1::bigint AND c.revision > 0 {} "
    "  ORDER BY c.revision DESC LIMIT $2::int) "
    "SELECT c.revision, (extract(epoch FROM c.changed_at) * 1000000)::bigint, c.who, "
    "c.request_id, c.reason, t.name, t.action "
    "FROM chosen c LEFT JOIN LATERAL ("
    "  SELECT name, action FROM ("
    "    SELECT r.name, 'create' AS action FROM resource r"
    "    WHERE r.change_id = c.change_id AND r.created_change_id = c.change_id AND NOT r.deleted"
    "    UNION ALL"
    "    SELECT h.name, 'create' FROM history h"
    "    WHERE h.previous_change_id = c.change_id AND h.created_change_id = c.change_id"
    "    UNION ALL"
    "    SELECT h.name, CASE WHEN h.deletion THEN 'delete' WHEN h.body = '' THEN 'undelete'"
    "      ELSE 'update' END FROM history h"
    "    WHERE h.change_id = c.change_id) touched {} LIMIT $3::int) t ON true "
    "ORDER BY c.revision DESC, t.name";

constexpr std::string_view kOfResource =
    "AND c.change_id IN ("
    "  SELECT change_id FROM resource WHERE type = $4::smallint AND name = $5 AND NOT deleted"
    "  UNION SELECT change_id FROM history WHERE name = $5"
    "  UNION SELECT previous_change_id FROM history WHERE name = $5)";

google::protobuf::Timestamp ToTimestamp(std::chrono::system_clock::time_point time) {
  return google::protobuf::util::TimeUtil::MicrosecondsToTimestamp(
      std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count());
}

std::vector<v1::Change> ToChanges(const Rows& rows) {
  std::vector<v1::Change> changes;
  for (int row = 0; row < rows.size(); ++row) {
    if (changes.empty() || changes.back().revision() != rows.Int(row, 0)) {
      v1::Change& change = changes.emplace_back();
      change.set_revision(rows.Int(row, 0));
      *change.mutable_time() = ToTimestamp(rows.Time(row, 1));
      change.set_who(std::string(rows.Text(row, 2)));
      change.set_request_id(std::string(rows.Text(row, 3)));
      change.set_reason(std::string(rows.Text(row, 4)));
    }
    if (!rows.Text(row, 5).empty()) {
      v1::ChangedResource& resource = *changes.back().add_resources();
      resource.set_name(std::string(rows.Text(row, 5)));
      resource.set_action(std::string(rows.Text(row, 6)));
    }
  }
  return changes;
}

std::optional<StoredResource> FirstOf(const Rows& rows) {
  return rows.size() == 0 ? std::nullopt : std::optional(ToStoredResource(rows, 0));
}

}  // namespace

absl::StatusOr<std::optional<StoredResource>> PgStore::Find(std::string_view name) {
  const auto parsed = contract::ParseResourceName(name);
  if (!parsed.ok()) {
    return std::nullopt;
  }
  const auto rows =
      Query(fmt::format("{} WHERE r.type = $1::smallint AND r.name = $2 AND NOT r.deleted",
                        kSelectResource),
            Params().Int(TypeNumber(parsed->type)).Text(name));
  if (!rows.ok()) {
    return rows.status();
  }
  return FirstOf(*rows);
}

absl::StatusOr<std::optional<StoredResource>> PgStore::FindDeleted(std::string_view name) {
  const auto parsed = contract::ParseResourceName(name);
  if (!parsed.ok()) {
    return std::nullopt;
  }
  const auto rows =
      Query(fmt::format("{} WHERE r.type = $1::smallint AND r.name = $2 AND r.deleted "
                        "ORDER BY r.change_id DESC LIMIT 1",
                        kSelectResource),
            Params().Int(TypeNumber(parsed->type)).Text(name));
  if (!rows.ok()) {
    return rows.status();
  }
  return FirstOf(*rows);
}

absl::StatusOr<std::optional<StoredResource>> PgStore::FindByUid(ResourceType type,
                                                                 std::int64_t uid) {
  const auto rows =
      Query(fmt::format("{} WHERE r.type = $1::smallint AND r.uid = $2::bigint AND NOT r.deleted",
                        kSelectResource),
            Params().Int(TypeNumber(type)).Int(uid));
  if (!rows.ok()) {
    return rows.status();
  }
  return FirstOf(*rows);
}

absl::StatusOr<std::optional<std::int64_t>> PgStore::FindBinding(std::int64_t farm_uid,
                                                                 std::string_view encoded_key) {
  const auto rows =
      Query("SELECT site_uid FROM binding WHERE farm_uid = $1::bigint AND encoded_key = $2::bytea",
            Params().Int(farm_uid).Bytes(encoded_key));
  if (!rows.ok()) {
    return rows.status();
  }
  return rows->size() == 0 ? std::nullopt : std::optional(rows->Int(0, 0));
}

absl::StatusOr<std::optional<KnownRequest>> PgStore::FindRequest(std::string_view who,
                                                                 std::string_view request_id) {
  const auto rows = Query(
      "SELECT fingerprint, answer, revision, counts FROM request WHERE who = $1 AND request_id = "
      "$2 "
      "AND answered_at >= now() - interval '24 hours'",
      Params().Text(who).Text(request_id));
  if (!rows.ok()) {
    return rows.status();
  }
  if (rows->size() == 0) {
    return std::nullopt;
  }
  KnownRequest known{.fingerprint = std::string(rows->Text(0, 0)),
                     .answer = rows->Bytes(0, 1),
                     .counts = {},
                     .revision = rows->Int(0, 2)};
  known.counts.ParseFromString(rows->Bytes(0, 3));
  return known;
}

absl::StatusOr<std::vector<v1::Change>> PgStore::ListChanges(std::int64_t before_revision,
                                                             int limit, std::string_view resource) {
  constexpr std::int64_t kNoBound = INT64_MAX;
  Params params;
  params.Int(before_revision == 0 ? kNoBound : before_revision)
      .Int(limit)
      .Int(kChangedResourcesMax);
  std::string sql;
  if (resource.empty()) {
    sql = fmt::format(fmt::runtime(kListChanges), "", "");
  } else {
    const auto parsed = contract::ParseResourceName(resource);
    if (!parsed.ok()) {
      return std::vector<v1::Change>();
    }
    params.Int(TypeNumber(parsed->type)).Text(resource);
    sql = fmt::format(fmt::runtime(kListChanges), kOfResource, "ORDER BY name <> $5");
  }
  const auto rows = Query(sql, params);
  return rows.ok() ? absl::StatusOr<std::vector<v1::Change>>(ToChanges(*rows)) : rows.status();
}

absl::StatusOr<std::vector<StoredResource>> PgStore::ListWritten(std::int64_t revision,
                                                                 ResourceType type, int limit) {
  const auto rows =
      Query(fmt::format(
                "{} WHERE r.type = $1::smallint AND NOT r.deleted AND r.uid IN ("
                "  SELECT w.uid FROM change x JOIN resource w ON w.change_id = x.change_id"
                "  WHERE x.revision = $2::bigint AND w.type = $1::smallint"
                "  UNION ALL"
                "  SELECT h.uid FROM change x JOIN history h ON h.previous_change_id = x.change_id"
                "  WHERE x.revision = $2::bigint AND h.type = $1::smallint) "
                "LIMIT $3::int",
                kSelectResource),
            Params().Int(TypeNumber(type)).Int(revision).Int(limit));
  return rows.ok() ? absl::StatusOr<std::vector<StoredResource>>(ToStoredResources(*rows))
                   : rows.status();
}

}  // namespace croft::control::store
