// Versions of resources: what each change did, in the order of the log or of one resource. The
// version that change C wrote is the history row with previous_change_id = C, or, where nothing
// replaced it yet, the resource's row; the history row with change_id = C has what C replaced.
#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include "control/store/pg_rows.h"
#include "control/store/pg_store_impl.h"
#include "control/store/row_type.h"
#include "proto/base/error.h"

namespace croft::control::store {
namespace {

using google::protobuf::util::TimeUtil;

// Changes looked at for one page of the log: an import's has ten thousand resources.
constexpr int kChangesAtOnce = 32;

// Of the versions in `touched` (type, uid, change_id); add ORDER BY. h is what the change replaced,
// n what replaced its version.
constexpr std::string_view kSelectVersion =
    "SELECT t.type, t.uid, coalesce(h.name, n.name, r.name), "
    "CASE WHEN h.change_id IS NULL THEN 0 WHEN h.deletion THEN 2 WHEN h.body = '' THEN 3 ELSE 1 "
    "END, c.revision, c.change_id, (extract(epoch FROM c.changed_at) * 1000000)::bigint, c.who, "
    "c.request_id, c.reason, r.farm_uid, r.organization_uid, o.name, r.store_uid, r.identity, "
    "(extract(epoch FROM made.changed_at) * 1000000)::bigint, h.body, p.change_id, p.revision, "
    "(extract(epoch FROM p.changed_at) * 1000000)::bigint, "
    "CASE WHEN h.deletion THEN h.body WHEN n.change_id IS NOT NULL THEN n.body ELSE r.body END, "
    "c.tag "
    "FROM touched t "
    "JOIN change c ON c.change_id = t.change_id "
    "LEFT JOIN history h ON h.type = t.type AND h.uid = t.uid AND h.change_id = t.change_id "
    "LEFT JOIN history n ON n.previous_change_id = t.change_id AND n.type = t.type "
    "  AND n.uid = t.uid "
    "LEFT JOIN resource r ON r.type = t.type AND r.uid = t.uid "
    "LEFT JOIN resource o ON o.type = 101 AND o.uid = r.organization_uid "
    "LEFT JOIN change made ON made.change_id = "
    "  coalesce(h.created_change_id, n.created_change_id, r.created_change_id) "
    "LEFT JOIN change p ON p.change_id = h.previous_change_id ";

// $1 change ids in order of revision, $2 and $3 type and uid to go on after in the first of them,
// $4 limit.
constexpr std::string_view kTouchedByChanges =
    "WITH touched AS ("
    "  SELECT chosen.change_id, chosen.place, x.type, x.uid "
    "  FROM unnest($1::bigint[]) WITH ORDINALITY AS chosen (change_id, place)"
    "  CROSS JOIN LATERAL ("
    "    SELECT type, uid FROM ("
    "      SELECT type, uid FROM history WHERE change_id = chosen.change_id"
    "      UNION ALL"
    "      SELECT type, uid FROM resource WHERE change_id = chosen.change_id"
    "        AND created_change_id = chosen.change_id AND NOT deleted"
    "      UNION ALL"
    "      SELECT type, uid FROM history WHERE previous_change_id = chosen.change_id"
    "        AND created_change_id = chosen.change_id AND body <> '') any_of"
    "    WHERE chosen.place > 1 OR (type, uid) > ($2::smallint, $3::bigint)"
    "    ORDER BY type, uid LIMIT $4::int) x"
    "  ORDER BY chosen.place, x.type, x.uid LIMIT $4::int) ";

// Back from version $3 of resource $1, $2, at most $4.
constexpr std::string_view kTouchedInChain =
    "WITH RECURSIVE touched AS ("
    "  SELECT $1::smallint AS type, $2::bigint AS uid, $3::bigint AS change_id, 1 AS place"
    "  UNION ALL"
    "  SELECT t.type, t.uid, h.previous_change_id, t.place + 1 FROM touched t"
    "  JOIN history h ON h.type = t.type AND h.uid = t.uid AND h.change_id = t.change_id"
    "  WHERE t.place < $4::int) ";

// The last version of each resource of type $1 that has or had name $2, the newest first.
constexpr std::string_view kNewestVersions =
    "SELECT newest.uid, newest.change_id FROM ("
    "  SELECT uid, change_id FROM resource WHERE type = $1::smallint AND name = $2 AND NOT deleted"
    "  UNION ALL"
    "  SELECT uid, change_id FROM resource WHERE type = $1::smallint AND name = $2 AND deleted"
    "  UNION ALL"
    "  SELECT h.uid, h.change_id FROM history h"
    "  WHERE h.name = $2 AND h.type = $1::smallint AND h.deletion"
    "  AND NOT EXISTS (SELECT 1 FROM resource r WHERE r.type = h.type AND r.uid = h.uid)"
    "  AND NOT EXISTS (SELECT 1 FROM history n WHERE n.previous_change_id = h.change_id"
    "    AND n.type = h.type AND n.uid = h.uid)) newest "
    "JOIN change c ON c.change_id = newest.change_id ORDER BY c.revision DESC";

v1::Change ToChange(const Rows& rows, int row) {
  v1::Change change;
  change.set_revision(rows.Int(row, 4));
  *change.mutable_time() = TimeUtil::MicrosecondsToTimestamp(rows.Int(row, 6));
  change.set_who(std::string(rows.Text(row, 7)));
  change.set_request_id(std::string(rows.Text(row, 8)));
  change.set_reason(std::string(rows.Text(row, 9)));
  return change;
}

Version ToVersion(const Rows& rows, int row) {
  Version version;
  version.action = static_cast<VersionAction>(rows.Int(row, 3));
  version.change = ToChange(rows, row);
  StoredResource& now = version.row;
  now.type = TypeOfNumber(static_cast<int>(rows.Int(row, 0))).value_or(ResourceType::kPlatform);
  now.uid = rows.Int(row, 1);
  now.name = std::string(rows.Text(row, 2));
  now.farm_uid = rows.Int(row, 10);
  now.organization_uid = rows.Int(row, 11);
  now.organization = std::string(rows.Text(row, 12));
  now.store_uid = rows.Int(row, 13);
  now.identity = static_cast<std::uint32_t>(rows.Int(row, 14));
  now.created = rows.Time(row, 15);
  const bool was_there =
      version.action == VersionAction::kUpdate || version.action == VersionAction::kDelete;
  if (was_there) {
    StoredResource& before = version.before.emplace(now);
    before.body = rows.Bytes(row, 16);
    before.change_id = rows.Int(row, 17);
    before.revision = rows.Int(row, 18);
    before.updated = rows.Time(row, 19);
  }
  now.deleted = version.action == VersionAction::kDelete;
  now.revision = rows.Int(row, 4);
  now.change_id = rows.Int(row, 5);
  now.updated = rows.Time(row, 6);
  now.body = rows.Bytes(row, 20);
  version.place = {.revision = now.revision,
                   .tag = static_cast<std::uint64_t>(rows.Int(row, 21)),
                   .type = static_cast<int>(rows.Int(row, 0)),
                   .uid = now.uid};
  return version;
}

std::vector<Version> ToVersions(const Rows& rows) {
  std::vector<Version> versions;
  versions.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    versions.push_back(ToVersion(rows, row));
  }
  return versions;
}

}  // namespace

absl::StatusOr<LogPage> PgStore::ListLog(const LogPosition& after, std::int64_t last_revision,
                                         int limit) {
  const bool is_whole = after.type == LogPosition::kWholeChange;
  const auto changes = Query(
      "SELECT change_id, revision, tag FROM change WHERE revision >= $1::bigint "
      "AND ($2::bigint = 0 OR revision <= $2::bigint) ORDER BY revision LIMIT $3::int",
      Params().Int(after.revision + (is_whole ? 1 : 0)).Int(last_revision).Int(kChangesAtOnce));
  if (!changes.ok()) {
    return changes.status();
  }
  LogPage page{.versions = {}, .next = after};
  if (changes->size() == 0) {
    return page;
  }
  std::vector<std::int64_t> change_ids;
  for (int row = 0; row < changes->size(); ++row) {
    change_ids.push_back(changes->Int(row, 0));
  }
  const auto rows =
      Query(fmt::format("{}{} ORDER BY t.place, t.type, t.uid", kTouchedByChanges, kSelectVersion),
            Params().Ints(change_ids).Int(is_whole ? 0 : after.type).Int(after.uid).Int(limit));
  if (!rows.ok()) {
    return rows.status();
  }
  page.versions = ToVersions(*rows);
  if (std::ssize(page.versions) == limit) {
    page.next = page.versions.back().place;
  } else {
    const int last = changes->size() - 1;
    page.next = {.revision = changes->Int(last, 1),
                 .tag = static_cast<std::uint64_t>(changes->Int(last, 2))};
  }
  return page;
}

absl::StatusOr<HistoryPage> PgStore::ListHistory(std::string_view name, const HistoryPosition& from,
                                                 int limit) {
  const auto parsed = contract::ParseResourceName(name);
  if (!parsed.ok()) {
    return HistoryPage();
  }
  const int type = TypeNumber(parsed->type);
  const auto newest = Query(kNewestVersions, Params().Int(type).Text(name));
  if (!newest.ok()) {
    return newest.status();
  }
  HistoryPage page;
  bool is_reached = from.uid == 0;
  for (int row = 0; row < newest->size(); ++row) {
    HistoryPosition at{newest->Int(row, 0), newest->Int(row, 1)};
    if (!is_reached && at.uid != from.uid) {
      continue;
    }
    at = is_reached ? at : from;
    is_reached = true;
    if (std::ssize(page.versions) == limit) {
      page.next = at;
      return page;
    }
    // One more, which tells where the next page begins.
    const int wanted = limit - static_cast<int>(page.versions.size()) + 1;
    const auto rows = Query(fmt::format("{}{} ORDER BY t.place", kTouchedInChain, kSelectVersion),
                            Params().Int(type).Int(at.uid).Int(at.change_id).Int(wanted));
    if (!rows.ok()) {
      return rows.status();
    }
    std::vector<Version> versions = ToVersions(*rows);
    if (std::ssize(versions) == wanted) {
      page.next = {at.uid, versions.back().row.change_id};
      versions.pop_back();
    }
    std::move(versions.begin(), versions.end(), std::back_inserter(page.versions));
    if (page.next.change_id != 0) {
      return page;
    }
  }
  return page;
}

absl::StatusOr<std::optional<StoredResource>> PgStore::FindAsOf(ResourceType type, std::int64_t uid,
                                                                std::int64_t revision) {
  const auto rows =
      Query(fmt::format("WITH touched AS ("
                        "  SELECT h.type, h.uid, h.change_id FROM history h"
                        "  JOIN change c ON c.change_id = h.change_id"
                        "  WHERE h.type = $1::smallint AND h.uid = $2::bigint"
                        "  AND c.revision > $3::bigint ORDER BY c.revision LIMIT 1) {}",
                        kSelectVersion),
            Params().Int(TypeNumber(type)).Int(uid).Int(revision));
  if (!rows.ok()) {
    return rows.status();
  }
  if (rows->size() == 0) {
    return std::nullopt;
  }
  auto before = ToVersion(*rows, 0).before;
  const bool was_there = before.has_value() && before->revision <= revision;
  return was_there ? std::move(before) : std::nullopt;
}

}  // namespace croft::control::store
