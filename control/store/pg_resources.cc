// Resources, as readers see them, and the log of changes.
#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include <map>

#include "control/store/pg_rows.h"
#include "control/store/pg_store_impl.h"
#include "control/store/row_type.h"

namespace croft::control::store {
namespace {

// Most resources listed with one change: an import's change has thousands.
constexpr int kChangedResourcesMax = 100;

// Changes and what each touched: created rows are known by the row (or the history of its first
// replacement), others by history. $1 revision to stay below, $2 limit of changes, $3 limit of
// resources per change; {} conditions on `change c`, and which resources come first.
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
    "    AND h.body <> ''"
    "    UNION ALL"
    "    SELECT h.name, CASE WHEN h.deletion THEN 'delete' WHEN h.body = '' THEN 'undelete'"
    "      ELSE 'update' END FROM history h"
    "    WHERE h.change_id = c.change_id) touched {} LIMIT $3::int) t ON true "
    "ORDER BY c.revision DESC, t.name";

// How many each of the changes with revisions $1 touched.
constexpr std::string_view kCountTouched =
    "SELECT c.revision,"
    "  (SELECT count(*) FROM history h WHERE h.change_id = c.change_id)"
    "  + (SELECT count(*) FROM resource r WHERE r.change_id = c.change_id"
    "    AND r.created_change_id = c.change_id AND NOT r.deleted)"
    "  + (SELECT count(*) FROM history h WHERE h.previous_change_id = c.change_id"
    "    AND h.created_change_id = c.change_id AND h.body <> '') "
    "FROM change c WHERE c.revision = ANY ($1::bigint[])";

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

absl::Status PgStore::CountTouched(std::vector<v1::Change>& changes) {
  std::map<std::int64_t, v1::Change*> large;
  std::vector<std::int64_t> revisions;
  for (v1::Change& change : changes) {
    change.set_total(change.resources_size());
    if (change.resources_size() > kChangedResourcesMax) {
      change.mutable_resources()->RemoveLast();
      large[change.revision()] = &change;
      revisions.push_back(change.revision());
    }
  }
  if (large.empty()) {
    return absl::OkStatus();
  }
  const auto rows = Query(kCountTouched, Params().Ints(revisions));
  if (!rows.ok()) {
    return rows.status();
  }
  for (int row = 0; row < rows->size(); ++row) {
    large.at(rows->Int(row, 0))->set_total(rows->Int(row, 1));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::Change>> PgStore::ListChanges(const ChangeQuery& query) {
  Params params;
  params.Int(query.before_revision == 0 ? INT64_MAX : query.before_revision)
      .Int(query.limit)
      .Int(kChangedResourcesMax + 1);
  std::string conditions;
  std::string order;
  const auto next = [&params] { return params.values().size() + 1; };
  if (!query.resource.empty()) {
    const auto parsed = contract::ParseResourceName(query.resource);
    if (!parsed.ok()) {
      return std::vector<v1::Change>();
    }
    conditions += fmt::format(
        "AND c.change_id IN ("
        "  SELECT change_id FROM resource WHERE type = ${0}::smallint AND name = ${1}"
        "    AND NOT deleted"
        "  UNION SELECT change_id FROM history WHERE name = ${1}"
        "  UNION SELECT previous_change_id FROM history WHERE name = ${1}) ",
        next(), next() + 1);
    order = fmt::format("ORDER BY name <> ${}", next() + 1);
    params.Int(TypeNumber(parsed->type)).Text(query.resource);
  }
  if (!query.who.empty()) {
    conditions += fmt::format("AND c.who = ${} ", next());
    params.Text(query.who);
  }
  if (query.since.has_value()) {
    conditions += fmt::format("AND c.changed_at >= {} ", TimeParam(static_cast<int>(next())));
    params.Time(*query.since);
  }
  const auto rows = Query(fmt::format(fmt::runtime(kListChanges), conditions, order), params);
  if (!rows.ok()) {
    return rows.status();
  }
  std::vector<v1::Change> changes = ToChanges(*rows);
  const absl::Status status = CountTouched(changes);
  return status.ok() ? absl::StatusOr<std::vector<v1::Change>>(std::move(changes)) : status;
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
