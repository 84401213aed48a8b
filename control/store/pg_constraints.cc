// What is unique or referred to: bindings, homes, identities, references, tokens' hashes.
#include <fmt/format.h>

#include "control/store/conflicts.h"
#include "control/store/pg_transaction.h"
#include "control/store/row_type.h"
#include "proto/base/error.h"

namespace croft::control::store {
namespace {

// Names of live rows that point at $2 (a uid) or, for a farm, lie below $1 (its name); at most $3.
// Empty for types nothing points at by column.
std::string_view ColumnReferences(ResourceType type) {
  switch (type) {
    case ResourceType::kOrganization:
      return "UNION (SELECT name FROM resource WHERE organization_uid = $2::bigint "
             "AND NOT deleted LIMIT $3::int)";
    case ResourceType::kStore:
      return "UNION (SELECT name FROM resource WHERE store_uid = $2::bigint "
             "AND NOT deleted LIMIT $3::int)";
    case ResourceType::kFarm:
      return "UNION (SELECT name FROM resource WHERE type BETWEEN 3 AND 7 AND name > $1 || '/' "
             "AND name < $1 || '0' AND NOT deleted AND farm_uid = $2::bigint LIMIT $3::int)";
    case ResourceType::kPlatform:
    case ResourceType::kNode:
    case ResourceType::kPool:
    case ResourceType::kSite:
    case ResourceType::kAccount:
    case ResourceType::kOperator:
    case ResourceType::kToken:
      return "UNION (SELECT '' WHERE $2::bigint < 0)";
  }
  return "";
}

}  // namespace

absl::Status PgTransaction::SetBindings(std::int64_t farm_uid, std::int64_t site_uid,
                                        const std::vector<std::string>& encoded_keys) {
  const auto removed = connection_->Query(
      "DELETE FROM binding WHERE site_uid = $1::bigint "
      "AND NOT encode(encoded_key, 'hex') = ANY ($2::text[])",
      Params().Int(site_uid).HexTexts(encoded_keys));
  if (!removed.ok() || encoded_keys.empty()) {
    return removed.status();
  }
  // In key order, so that two transactions never wait for each other.
  const auto inserted = connection_->Query(
      "INSERT INTO binding (farm_uid, site_uid, encoded_key) "
      "SELECT $1::bigint, $2::bigint, decode(k, 'hex') FROM unnest($3::text[]) k ORDER BY k "
      "ON CONFLICT (farm_uid, encoded_key) DO NOTHING",
      Params().Int(farm_uid).Int(site_uid).HexTexts(encoded_keys));
  if (!inserted.ok() || inserted->affected() == std::ssize(encoded_keys)) {
    return inserted.status();
  }
  const auto others = connection_->Query(
      "SELECT b.encoded_key, r.name FROM binding b "
      "LEFT JOIN resource r ON r.type = 6 AND r.uid = b.site_uid "
      "WHERE b.farm_uid = $1::bigint AND b.site_uid <> $2::bigint AND b.encoded_key IN "
      "(SELECT decode(k, 'hex') FROM unnest($3::text[]) k) ORDER BY b.encoded_key LIMIT 1",
      Params().Int(farm_uid).Int(site_uid).HexTexts(encoded_keys));
  if (!others.ok() || others->size() == 0) {
    return others.status();
  }
  return BindingTaken(others->Bytes(0, 0), others->Text(0, 1));
}

absl::StatusOr<std::int64_t> PgTransaction::TakeHomeSlots(std::int64_t store_uid,
                                                          std::int64_t count) {
  const auto taken = connection_->Query(
      "INSERT INTO home_slot (store_uid, next_slot) VALUES ($1::bigint, $2::bigint) "
      "ON CONFLICT (store_uid) DO UPDATE SET next_slot = home_slot.next_slot + $2::bigint "
      "RETURNING next_slot - $2::bigint",
      Params().Int(store_uid).Int(count));
  return taken.ok() ? absl::StatusOr<std::int64_t>(taken->Int(0, 0)) : taken.status();
}

absl::StatusOr<std::int64_t> PgTransaction::UsedHomeSlots(std::int64_t store_uid) {
  const auto used = connection_->Query(
      "SELECT next_slot FROM home_slot WHERE store_uid = $1::bigint", Params().Int(store_uid));
  if (!used.ok()) {
    return used.status();
  }
  return used->size() == 0 ? 0 : used->Int(0, 0);
}

absl::StatusOr<std::uint32_t> PgTransaction::TakeIdentity(std::int64_t farm_uid) {
  // One at a time per farm, until the end of the transaction.
  const auto turn = connection_->Query("SELECT pg_advisory_xact_lock(1, $1::bigint::integer)",
                                       Params().Int(farm_uid & 0x7fffffff));
  if (!turn.ok()) {
    return turn.status();
  }
  const auto smallest = connection_->Query(
      "SELECT min(candidate) FROM ("
      "  SELECT 1 AS candidate UNION ALL"
      "  SELECT identity + 1 FROM resource"
      "  WHERE farm_uid = $1::bigint AND NOT deleted AND identity IS NOT NULL) c "
      "WHERE NOT EXISTS (SELECT 1 FROM resource r WHERE r.farm_uid = $1::bigint "
      "  AND r.identity = candidate AND NOT r.deleted AND r.identity IS NOT NULL)",
      Params().Int(farm_uid));
  return smallest.ok()
             ? absl::StatusOr<std::uint32_t>(static_cast<std::uint32_t>(smallest->Int(0, 0)))
             : smallest.status();
}

absl::StatusOr<std::vector<std::string>> PgTransaction::FindReferences(const StoredResource& row,
                                                                       int limit) {
  const auto rows = connection_->Query(
      fmt::format("SELECT name FROM ("
                  "(SELECT r.name FROM reference f JOIN resource r "
                  "ON r.type = f.from_type AND r.uid = f.from_uid "
                  "WHERE f.to_name = $1 AND NOT r.deleted LIMIT $3::int) {}) AS found "
                  "WHERE name <> $1 ORDER BY name LIMIT $3::int",
                  ColumnReferences(row.type)),
      Params().Text(row.name).Int(row.uid).Int(limit));
  if (!rows.ok()) {
    return rows.status();
  }
  std::vector<std::string> names;
  for (int i = 0; i < rows->size(); ++i) {
    names.emplace_back(rows->Text(i, 0));
  }
  return names;
}

absl::Status PgTransaction::SetReferences(const StoredResource& row,
                                          const std::vector<std::string>& resource_names) {
  return connection_
      ->Query(
          "WITH wanted AS (SELECT DISTINCT n FROM unnest($3::text[]) n), "
          "gone AS (DELETE FROM reference WHERE from_type = $1::smallint "
          "  AND from_uid = $2::bigint AND to_name NOT IN (SELECT n FROM wanted)) "
          "INSERT INTO reference (to_name, from_type, from_uid) "
          "SELECT n, $1::smallint, $2::bigint FROM wanted ON CONFLICT DO NOTHING",
          Params().Int(TypeNumber(row.type)).Int(row.uid).Texts(resource_names))
      .status();
}

absl::Status PgTransaction::SetTokenHash(std::int64_t token_uid, std::int64_t operator_uid,
                                         std::string_view hash) {
  const auto set = connection_->Query(
      "INSERT INTO operator_token (hash, token_uid, operator_uid) "
      "VALUES ($1, $2::bigint, $3::bigint) "
      "ON CONFLICT (hash) DO UPDATE SET token_uid = excluded.token_uid, "
      "operator_uid = excluded.operator_uid WHERE operator_token.token_uid IS NULL",
      Params().Text(hash).Int(token_uid).Int(operator_uid));
  if (!set.ok()) {
    return set.status();
  }
  return set->affected() == 0
             ? Error(absl::StatusCode::kAlreadyExists, "another token has that secret; try again")
             : absl::OkStatus();
}

}  // namespace croft::control::store
