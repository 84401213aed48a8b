// Operations: work that goes on after its call.
#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include "control/store/conflicts.h"
#include "control/store/pg_rows.h"
#include "control/store/pg_store_impl.h"
#include "control/store/pg_transaction.h"

namespace croft::control::store {
namespace {

using google::protobuf::util::TimeUtil;

constexpr std::string_view kSelectOperation =
    "SELECT r.uid, r.organization_uid, o.name, r.operator_uid, r.token_uid, r.instance, "
    "r.change_id, coalesce(c.revision, 0), r.after_uid, r.after_name, "
    "(extract(epoch FROM r.created_at) * 1000000)::bigint, "
    "(extract(epoch FROM r.updated_at) * 1000000)::bigint, "
    "r.state, r.deletes, r.counting, r.cancelled_by, r.request, r.body "
    "FROM operation r LEFT JOIN change c ON c.change_id = r.change_id "
    "LEFT JOIN resource o ON o.type = 101 AND o.uid = r.organization_uid ";

// The one that has waited longest among those that nobody has, whose instance is gone, or that are
// this instance's own.
constexpr std::string_view kClaim =
    "UPDATE operation SET instance = $1::bigint, state = 2 WHERE uid = ("
    "  SELECT uid FROM operation WHERE state < 3 AND (instance IN (0, $1::bigint)"
    "    OR instance NOT IN ("
    "      SELECT (l.classid::bigint << 32) | l.objid::bigint FROM pg_locks l"
    "      WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted AND l.database = ("
    "        SELECT oid FROM pg_database WHERE datname = current_database())))"
    "  ORDER BY updated_at, uid LIMIT 1 FOR UPDATE SKIP LOCKED) "
    "RETURNING uid";

StoredOperation ToOperation(const Rows& rows, int row) {
  StoredOperation operation;
  v1::Operation& shown = operation.shown;
  shown.ParseFromString(rows.Bytes(row, 17));
  operation.uid = rows.Int(row, 0);
  shown.set_uid(operation.uid);
  shown.set_name(fmt::format("operations/{}", operation.uid));
  operation.organization_uid = rows.Int(row, 1);
  shown.set_organization(std::string(rows.Text(row, 2)));
  operation.operator_uid = rows.Int(row, 3);
  operation.token_uid = rows.Int(row, 4);
  operation.instance = rows.Int(row, 5);
  operation.change_id = rows.Int(row, 6);
  shown.set_revision(rows.Int(row, 7));
  operation.after_uid = rows.Int(row, 8);
  operation.after_name = std::string(rows.Text(row, 9));
  *shown.mutable_create_time() = TimeUtil::MicrosecondsToTimestamp(rows.Int(row, 10));
  *shown.mutable_update_time() = TimeUtil::MicrosecondsToTimestamp(rows.Int(row, 11));
  shown.set_state(static_cast<v1::Operation::State>(rows.Int(row, 12)));
  operation.deletes = rows.Bool(row, 13);
  operation.counting = rows.Bool(row, 14);
  operation.cancelled_by = std::string(rows.Text(row, 15));
  shown.set_cancel_asked(!operation.cancelled_by.empty());
  operation.request = rows.Bytes(row, 16);
  return operation;
}

}  // namespace

absl::Status PgTransaction::InsertOperation(const StoredOperation& operation) {
  return connection_
      ->Query(
          fmt::format("INSERT INTO operation (uid, organization_uid, operator_uid, token_uid, "
                      "created_at, updated_at, state, deletes, counting, after_name, after_uid, "
                      "request, body) VALUES ($1::bigint, $2::bigint, $3::bigint, $4::bigint, {0}, "
                      "{0}, $6::smallint, $7::boolean, $8::boolean, $9, $10::bigint, $11::bytea, "
                      "$12::bytea)",
                      TimeParam(5)),
          Params()
              .Int(operation.uid)
              .Int(operation.organization_uid)
              .Int(operation.operator_uid)
              .Int(operation.token_uid)
              .Time(time_)
              .Int(operation.shown.state())
              .Bool(operation.deletes)
              .Bool(operation.counting)
              .Text(operation.after_name)
              .Int(operation.after_uid)
              .Bytes(operation.request)
              .Bytes(operation.shown.SerializeAsString()))
      .status();
}

absl::Status PgTransaction::SaveOperation(const StoredOperation& operation) {
  const auto saved = connection_->Query(
      fmt::format("UPDATE operation SET updated_at = {}, state = $3::smallint, "
                  "counting = $4::boolean, after_name = $5, after_uid = $6::bigint, "
                  "change_id = $7::bigint, body = $8::bytea "
                  "WHERE uid = $1::bigint AND instance = $9::bigint AND state < 3",
                  TimeParam(2)),
      Params()
          .Int(operation.uid)
          .Time(time_)
          .Int(operation.shown.state())
          .Bool(operation.counting)
          .Text(operation.after_name)
          .Int(operation.after_uid)
          .Int(operation.change_id)
          .Bytes(operation.shown.SerializeAsString())
          .Int(operation.instance));
  if (!saved.ok()) {
    return saved.status();
  }
  return saved->affected() == 0 ? Conflict(operation.shown.name()) : absl::OkStatus();
}

absl::Status PgTransaction::AskToCancel(std::int64_t uid, std::string_view by) {
  return connection_
      ->Query(
          "UPDATE operation SET cancelled_by = $2 "
          "WHERE uid = $1::bigint AND state < 3 AND cancelled_by = ''",
          Params().Int(uid).Text(by))
      .status();
}

absl::StatusOr<std::optional<StoredOperation>> PgStore::FindOperation(std::int64_t uid) {
  const auto rows =
      Query(fmt::format("{} WHERE r.uid = $1::bigint", kSelectOperation), Params().Int(uid));
  if (!rows.ok()) {
    return rows.status();
  }
  return rows->size() == 0 ? std::nullopt : std::optional(ToOperation(*rows, 0));
}

absl::StatusOr<std::vector<StoredOperation>> PgStore::ListOperations(const OperationQuery& query) {
  std::string sql = fmt::format(
      "{} WHERE ($1::bigint = 0 OR r.uid < $1::bigint) AND ($2::boolean IS FALSE OR r.state < 3)",
      kSelectOperation);
  Params params;
  params.Int(query.before_uid).Bool(query.running).Int(query.limit);
  if (query.within.has_value()) {
    // Of a type that belongs to an organization, as operations do.
    params.Ints(*query.within).Int(query.operator_uid);
    sql += fmt::format(" AND (r.operator_uid = $5::bigint OR (true {}))",
                       WithinClause(ResourceType::kSite, 4));
  }
  const auto rows = Query(sql + " ORDER BY r.uid DESC LIMIT $3::int", params);
  if (!rows.ok()) {
    return rows.status();
  }
  std::vector<StoredOperation> operations;
  for (int row = 0; row < rows->size(); ++row) {
    operations.push_back(ToOperation(*rows, row));
  }
  return operations;
}

absl::StatusOr<std::optional<StoredOperation>> PgStore::ClaimOperation() {
  const auto claimed = Query(kClaim, Params().Int(static_cast<std::int64_t>(instance_)));
  if (!claimed.ok()) {
    return claimed.status();
  }
  return claimed->size() == 0 ? absl::StatusOr<std::optional<StoredOperation>>(std::nullopt)
                              : FindOperation(claimed->Int(0, 0));
}

}  // namespace croft::control::store
