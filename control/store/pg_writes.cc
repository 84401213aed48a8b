// Rows of the resource table, written.
#include <unordered_set>

#include "control/store/conflicts.h"
#include "control/store/pg_rows.h"
#include "control/store/pg_transaction.h"
#include "control/store/row_type.h"
#include "proto/base/error.h"

namespace croft::control::store {
namespace {

// Keeps the body that is about to be replaced, once per change; `old` is the row, locked. $1 type,
// $2 uid, $3 this change.
constexpr std::string_view kKeepHistory =
    "WITH old AS ("
    "  SELECT * FROM resource WHERE type = $1::smallint AND uid = $2::bigint AND NOT deleted"
    "  FOR UPDATE),"
    " kept AS ("
    "  INSERT INTO history (type, deletion, uid, change_id, previous_change_id,"
    "    created_change_id, name, body)"
    "  SELECT type, {}, uid, $3::bigint, change_id, created_change_id, name, body FROM old"
    "  WHERE change_id <> $3::bigint"
    "  ON CONFLICT (type, uid, change_id) DO UPDATE SET deletion = excluded.deletion)";

// Makes the terms of row `old` those of the parameter, an array.
constexpr std::string_view kReplaceTerms =
    ", gone AS ("
    "  DELETE FROM term WHERE type = $1::smallint AND uid = $2::bigint"
    "  AND term <> ALL (${0}::text[])),"
    " fresh AS ("
    "  INSERT INTO term (type, term, uid, name)"
    "  SELECT type, t, uid, name FROM old, unnest(${0}::text[]) t ON CONFLICT DO NOTHING) ";

}  // namespace

absl::Status PgTransaction::Insert(const StoredResource& row) {
  const auto inserted = connection_->Query(
      fmt::format("INSERT INTO resource (type, uid, name, farm_uid, organization_uid, store_uid, "
                  "identity, body, created_change_id, change_id, created_at, home_path, owners) "
                  "VALUES ($1::smallint, $2::bigint, $3, $4::bigint, nullif($5::bigint, 0), "
                  "nullif($6::bigint, 0), nullif($7::integer, 0), $8::bytea, $9::bigint, "
                  "$9::bigint, {}, nullif($11, ''), nullif($12::bytea, '')) ON CONFLICT DO NOTHING",
                  TimeParam(10)),
      Params()
          .Int(TypeNumber(row.type))
          .Int(row.uid)
          .Text(row.name)
          .Int(row.farm_uid)
          .Int(row.organization_uid)
          .Int(row.store_uid)
          .Int(row.identity)
          .Bytes(row.body)
          .Int(change_id_)
          .Time(time_)
          .Text(row.home_path)
          .Bytes(row.owners));
  if (!inserted.ok()) {
    return inserted.status();
  }
  if (inserted->affected() == 0) {
    return FindTaken(row);
  }
  return row.terms.empty() ? absl::OkStatus() : InsertTerms({row});
}

absl::Status PgTransaction::FindTaken(const StoredResource& row) {
  const auto holder = connection_->Query(
      "SELECT name FROM resource WHERE store_uid = $1::bigint AND home_path = $2 AND NOT deleted "
      "AND NOT EXISTS (SELECT 1 FROM resource WHERE type = $3::smallint AND name = $4 "
      "  AND NOT deleted)",
      Params().Int(row.store_uid).Text(row.home_path).Int(TypeNumber(row.type)).Text(row.name));
  if (!holder.ok()) {
    return holder.status();
  }
  return holder->size() == 0 ? NameTaken(row.name) : HomeTaken(row.home_path, holder->Text(0, 0));
}

absl::Status PgTransaction::InsertTerms(const std::vector<StoredResource>& rows) {
  std::vector<std::int64_t> uids;
  std::vector<std::string> terms;
  for (const StoredResource& row : rows) {
    uids.insert(uids.end(), row.terms.size(), row.uid);
    terms.insert(terms.end(), row.terms.begin(), row.terms.end());
  }
  if (terms.empty()) {
    return absl::OkStatus();
  }
  return connection_
      ->Query(
          "INSERT INTO term (type, term, uid, name) SELECT r.type, t.term, r.uid, r.name "
          "FROM unnest($2::bigint[], $3::text[]) AS t (uid, term) "
          "JOIN resource r ON r.type = $1::smallint AND r.uid = t.uid",
          Params().Int(TypeNumber(rows.front().type)).Ints(uids).Texts(terms))
      .status();
}

absl::Status PgTransaction::Update(const StoredResource& row) {
  const auto updated =
      connection_->Query(fmt::format(fmt::runtime(std::string(kKeepHistory)), "false") +
                             fmt::format(fmt::runtime(kReplaceTerms), 8) +
                             "UPDATE resource r SET body = $4::bytea, change_id = $3::bigint, "
                             "organization_uid = nullif($5::bigint, 0), "
                             "store_uid = nullif($6::bigint, 0), "
                             "identity = nullif($7::integer, 0), "
                             "owners = nullif($9::bytea, '') "
                             "FROM old WHERE r.type = old.type AND r.uid = old.uid",
                         Params()
                             .Int(TypeNumber(row.type))
                             .Int(row.uid)
                             .Int(change_id_)
                             .Bytes(row.body)
                             .Int(row.organization_uid)
                             .Int(row.store_uid)
                             .Int(row.identity)
                             .Texts(row.terms)
                             .Bytes(row.owners));
  if (!updated.ok()) {
    return updated.status();
  }
  return updated->affected() == 0 ? Conflict(row.name) : absl::OkStatus();
}

absl::Status PgTransaction::SetOwners(const StoredResource& row) {
  const auto updated = connection_->Query(
      "UPDATE resource SET owners = nullif($3::bytea, '') "
      "WHERE type = $1::smallint AND uid = $2::bigint AND NOT deleted",
      Params().Int(TypeNumber(row.type)).Int(row.uid).Bytes(row.owners));
  if (!updated.ok()) {
    return updated.status();
  }
  return updated->affected() == 0 ? Conflict(row.name) : absl::OkStatus();
}

absl::Status PgTransaction::Delete(const StoredResource& row) {
  const auto deleted = connection_->Query(
      fmt::format(
          fmt::runtime(std::string(kKeepHistory) +
                       ", no_bindings AS (DELETE FROM binding WHERE site_uid = $2::bigint "
                       "  AND $1::smallint = 6)"
                       ", no_references AS (DELETE FROM reference WHERE from_type = $1::smallint "
                       "  AND from_uid = $2::bigint)"
                       ", no_marks AS (DELETE FROM node_mark WHERE node_uid = $2::bigint "
                       "  AND $1::smallint = 3)"
                       ", no_token AS (DELETE FROM operator_token WHERE token_uid = $2::bigint "
                       "  AND $1::smallint = 103) "
                       "UPDATE resource r SET deleted = true, change_id = $3::bigint "
                       "FROM old WHERE r.type = old.type AND r.uid = old.uid"),
          "true"),
      Params().Int(TypeNumber(row.type)).Int(row.uid).Int(change_id_));
  if (!deleted.ok()) {
    return deleted.status();
  }
  return deleted->affected() == 0 ? Conflict(row.name) : absl::OkStatus();
}

absl::Status PgTransaction::CheckFree(const StoredResource& row) {
  const auto holders = connection_->Query(
      "SELECT 1 AS what, name FROM resource WHERE type = $1::smallint AND name = $2 "
      "AND NOT deleted UNION ALL "
      "SELECT 2, name FROM resource WHERE farm_uid = $3::bigint AND identity = $4::integer "
      "AND identity IS NOT NULL AND NOT deleted UNION ALL "
      "SELECT 3, name FROM resource WHERE store_uid = $5::bigint AND home_path = $6 "
      "AND NOT deleted ORDER BY what LIMIT 1",
      Params()
          .Int(TypeNumber(row.type))
          .Text(row.name)
          .Int(row.farm_uid)
          .Int(row.identity)
          .Int(row.store_uid)
          .Text(row.home_path));
  if (!holders.ok() || holders->size() == 0) {
    return holders.status();
  }
  const std::string_view holder = holders->Text(0, 1);
  switch (holders->Int(0, 0)) {
    case 1:
      return NameTaken(row.name);
    case 2:
      return IdentityTaken(row.name, holder);
    default:
      return HomeTaken(row.home_path, holder);
  }
}

// The history says of an undeletion that it replaced an empty body.
absl::Status PgTransaction::Undelete(const StoredResource& row) {
  if (absl::Status status = CheckFree(row); !status.ok()) {
    return status;
  }
  const auto undeleted = connection_->Query(
      "WITH old AS ("
      "  SELECT * FROM resource WHERE type = $1::smallint AND uid = $2::bigint AND deleted"
      "  FOR UPDATE),"
      " kept AS ("
      "  INSERT INTO history (type, deletion, uid, change_id, previous_change_id,"
      "    created_change_id, name, body)"
      "  SELECT type, false, uid, $3::bigint, change_id, created_change_id, name, '' FROM old) "
      "UPDATE resource r SET deleted = false, body = $4::bytea, change_id = $3::bigint, "
      "home_path = nullif($5, '') FROM old WHERE r.type = old.type AND r.uid = old.uid",
      Params()
          .Int(TypeNumber(row.type))
          .Int(row.uid)
          .Int(change_id_)
          .Bytes(row.body)
          .Text(row.home_path));
  if (absl::IsAlreadyExists(undeleted.status())) {
    return Conflict(row.name);  // taken just now
  }
  if (!undeleted.ok()) {
    return undeleted.status();
  }
  return undeleted->affected() == 0 ? Conflict(row.name) : absl::OkStatus();
}

// Plain COPY, as fast as PostgreSQL takes rows; a taken name among them is rare, and found out
// then.
absl::StatusOr<std::vector<std::string>> PgTransaction::InsertMany(
    const std::vector<StoredResource>& rows) {
  if (rows.empty()) {
    return std::vector<std::string>();
  }
  for (const StoredResource& row : rows) {
    if (row.type != rows.front().type || row.farm_uid != rows.front().farm_uid) {
      return Error(absl::StatusCode::kInternal, "InsertMany: {} is of another type or farm",
                   row.name);
    }
  }
  absl::Status status = connection_->Execute("SAVEPOINT many");
  if (status.ok()) {
    status = CopyRows(rows);
  }
  if (absl::IsAlreadyExists(status)) {
    status = connection_->Execute("ROLLBACK TO SAVEPOINT many");
    return status.ok() ? InsertFreeNames(rows) : status;
  }
  if (status.ok()) {
    status = InsertTerms(rows);
  }
  if (status.ok()) {
    status = connection_->Execute("RELEASE SAVEPOINT many");
  }
  if (!status.ok()) {
    return status;
  }
  return std::vector<std::string>();
}

absl::Status PgTransaction::CopyRows(const std::vector<StoredResource>& rows) {
  const StoredResource& first = rows.front();
  const Params shared = Params().Int(TypeNumber(first.type)).Int(first.farm_uid).Int(change_id_);
  const auto created = connection_->Query("SELECT " + TimeParam(1), Params().Time(time_));
  if (!created.ok()) {
    return created.status();
  }
  const std::string created_at(created->Text(0, 0));
  std::vector<Params> values;
  std::vector<Connection::CopyRow> lines;
  values.reserve(rows.size());
  lines.reserve(rows.size());
  for (const StoredResource& row : rows) {
    Params& own = values.emplace_back();
    own.Int(row.uid).Text(row.name).Int(row.organization_uid).Int(row.store_uid).Bytes(row.body);
    own.Text(row.home_path).Bytes(row.owners);
    const auto text = [&own](std::size_t i) { return own.values()[i].c_str(); };
    lines.push_back({shared.values()[0].c_str(), shared.values()[1].c_str(),
                     shared.values()[2].c_str(), shared.values()[2].c_str(), created_at.c_str(),
                     text(0), text(1), row.organization_uid == 0 ? nullptr : text(2),
                     row.store_uid == 0 ? nullptr : text(3), text(4),
                     row.home_path.empty() ? nullptr : text(5),
                     row.owners.empty() ? nullptr : text(6)});
  }
  return connection_->Copy(
      "resource",
      {"type", "farm_uid", "created_change_id", "change_id", "created_at", "uid", "name",
       "organization_uid", "store_uid", "body", "home_path", "owners"},
      lines);
}

absl::StatusOr<std::vector<std::string>> PgTransaction::InsertFreeNames(
    const std::vector<StoredResource>& rows) {
  std::vector<std::string> taken;
  std::vector<std::int64_t> uids, owners, stores;
  std::vector<std::string> names, bodies, homes, field_owners;
  for (const StoredResource& row : rows) {
    uids.push_back(row.uid);
    owners.push_back(row.organization_uid);
    stores.push_back(row.store_uid);
    names.push_back(row.name);
    bodies.push_back(row.body);
    homes.push_back(row.home_path);
    field_owners.push_back(row.owners);
  }
  const int type = TypeNumber(rows.front().type);
  const auto inserted = connection_->Query(
      fmt::format(
          "INSERT INTO resource (type, uid, name, farm_uid, organization_uid, store_uid, body, "
          "created_change_id, change_id, created_at, home_path, owners) "
          "SELECT $1::smallint, uid, name, $2::bigint, nullif(owner, 0), nullif(store, 0), "
          "decode(body, 'hex'), $3::bigint, $3::bigint, {}, nullif(home, ''), "
          "nullif(decode(owners, 'hex'), '') "
          "FROM unnest($5::bigint[], $6::text[], $7::bigint[], $8::bigint[], $9::text[], "
          "$10::text[], $11::text[]) AS rows (uid, name, owner, store, body, home, owners) "
          "ON CONFLICT (type, name) WHERE NOT deleted DO NOTHING",
          TimeParam(4)),
      Params()
          .Int(type)
          .Int(rows.front().farm_uid)
          .Int(change_id_)
          .Time(time_)
          .Ints(uids)
          .Texts(names)
          .Ints(owners)
          .Ints(stores)
          .HexTexts(bodies)
          .Texts(homes)
          .HexTexts(field_owners));
  if (!inserted.ok()) {
    return inserted.status();
  }
  if (absl::Status status = InsertTerms(rows); !status.ok()) {
    return status;
  }
  if (inserted->affected() == std::ssize(rows)) {
    return taken;
  }
  const auto ours = connection_->Query(
      "SELECT name FROM resource WHERE type = $1::smallint AND change_id = $2::bigint",
      Params().Int(type).Int(change_id_));
  if (!ours.ok()) {
    return ours.status();
  }
  std::unordered_set<std::string_view> made;
  for (int row = 0; row < ours->size(); ++row) {
    made.insert(ours->Text(row, 0));
  }
  for (const std::string& name : names) {
    if (!made.contains(name)) {
      taken.push_back(name);
    }
  }
  return taken;
}

}  // namespace croft::control::store
