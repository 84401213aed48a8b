// Marks of nodes.
#include "control/store/pg_store_impl.h"
#include "proto/base/error.h"

namespace croft::control::store {
namespace {

std::int64_t Micros(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
}

// A lost mark is told again by its node, so the flush waits for no disk.
constexpr std::string_view kWriteMarks =
    "WITH lazy AS (SELECT set_config('synchronous_commit', 'off', true)),"
    " written AS ("
    "  INSERT INTO node_mark (node_uid, sent_revision, applied_revision, serving_revision,"
    "    connected, ever_connected, draining, last_contact_at, status, instance)"
    "  SELECT node_uid, sent, applied, serving, flags & 1 <> 0, flags & 2 <> 0, flags & 4 <> 0,"
    "    timestamptz 'epoch' + contact * interval '1 microsecond', decode(status, 'hex'),"
    "    $8::bigint"
    "  FROM lazy, unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],"
    "    $6::bigint[], $7::text[])"
    "    AS m (node_uid, sent, applied, serving, flags, contact, status)"
    "  ORDER BY node_uid"
    "  ON CONFLICT (node_uid) DO UPDATE SET sent_revision = excluded.sent_revision,"
    "    applied_revision = excluded.applied_revision,"
    "    serving_revision = excluded.serving_revision, connected = excluded.connected,"
    "    ever_connected = excluded.ever_connected, draining = excluded.draining,"
    "    last_contact_at = excluded.last_contact_at, status = excluded.status,"
    "    instance = excluded.instance"
    "  RETURNING 1)"
    "SELECT pg_notify('croft', ''), (SELECT count(*) FROM written)";

}  // namespace

absl::Status PgStore::WriteMarks(const std::vector<NodeMarks>& marks) {
  if (marks.empty()) {
    return absl::OkStatus();
  }
  std::vector<std::int64_t> uids, sent, applied, serving, flags, contact;
  std::vector<std::string> status;
  for (const NodeMarks& mark : marks) {
    uids.push_back(mark.node_uid);
    sent.push_back(mark.sent_revision);
    applied.push_back(mark.applied_revision);
    serving.push_back(mark.serving_revision);
    flags.push_back((mark.connected ? 1 : 0) | (mark.ever_connected ? 2 : 0) |
                    (mark.draining ? 4 : 0));
    contact.push_back(Micros(mark.last_contact));
    status.push_back(mark.status);
  }
  Params params;
  params.Ints(uids).Ints(sent).Ints(applied).Ints(serving).Ints(flags).Ints(contact);
  params.HexTexts(status).Int(static_cast<std::int64_t>(instance_));
  return Query(kWriteMarks, params).status();
}

// "Connected" is true as long as the instance lives that wrote it: this one, or one that holds its
// lock.
absl::StatusOr<std::vector<NodeMarks>> PgStore::ReadMarks(std::int64_t farm_uid) {
  const auto rows = Query(
      "SELECT m.node_uid, r.name, r.farm_uid, m.sent_revision, m.applied_revision, "
      "m.serving_revision, m.connected AND (m.instance = $2::bigint OR m.instance IN ("
      "  SELECT (l.classid::bigint << 32) | l.objid::bigint FROM pg_locks l"
      "  WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.database = ("
      "    SELECT oid FROM pg_database WHERE datname = current_database()))), "
      "m.ever_connected, m.draining, "
      "(extract(epoch FROM m.last_contact_at) * 1000000)::bigint, m.status, "
      "m.accepted_epoch, m.accepted_sites "
      "FROM node_mark m JOIN resource r ON r.type = 3 AND r.uid = m.node_uid "
      "WHERE NOT r.deleted AND ($1::bigint = 0 OR r.farm_uid = $1::bigint) ORDER BY m.node_uid",
      Params().Int(farm_uid).Int(static_cast<std::int64_t>(instance_)));
  if (!rows.ok()) {
    return rows.status();
  }
  std::vector<NodeMarks> marks;
  for (int row = 0; row < rows->size(); ++row) {
    NodeMarks& mark = marks.emplace_back();
    mark.node_uid = rows->Int(row, 0);
    mark.node = std::string(rows->Text(row, 1));
    mark.farm_uid = rows->Int(row, 2);
    mark.sent_revision = rows->Int(row, 3);
    mark.applied_revision = rows->Int(row, 4);
    mark.serving_revision = rows->Int(row, 5);
    mark.connected = rows->Bool(row, 6);
    mark.ever_connected = rows->Bool(row, 7);
    mark.draining = rows->Bool(row, 8);
    mark.last_contact = rows->Time(row, 9);
    mark.status = rows->Bytes(row, 10);
    mark.accepted.set_epoch(static_cast<std::uint64_t>(rows->Int(row, 11)));
    mark.accepted.set_sites(rows->Int(row, 12));
  }
  return marks;
}

absl::Status PgStore::AcceptVanishing(std::int64_t node_uid, const v1::VanishingSites& accepted) {
  const auto updated = Query(
      "UPDATE node_mark SET accepted_epoch = $2::bigint, accepted_sites = $3::bigint "
      "WHERE node_uid = $1::bigint",
      Params()
          .Int(node_uid)
          .Int(static_cast<std::int64_t>(accepted.epoch()))
          .Int(accepted.sites()));
  if (!updated.ok()) {
    return updated.status();
  }
  return updated->affected() == 0
             ? Error(absl::StatusCode::kNotFound, "node {} has not connected yet", node_uid)
             : absl::OkStatus();
}

}  // namespace croft::control::store
