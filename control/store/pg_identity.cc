// Hashes of tokens, and encrypted secrets.
#include "control/store/pg_rows.h"
#include "control/store/pg_store_impl.h"
#include "proto/base/error.h"

namespace croft::control::store {

absl::Status PgStore::InsertJoinToken(std::string_view hash, std::string_view node,
                                      std::chrono::system_clock::time_point expires) {
  return Query(fmt::format("INSERT INTO join_token (hash, node, expires_at) VALUES ($1, $2, {}) "
                           "ON CONFLICT (hash) DO NOTHING",
                           TimeParam(3)),
               Params().Text(hash).Text(node).Time(expires))
      .status();
}

// Not Query: a repeat after a lost connection would find the token taken by itself. An enrolment
// that fails so asks for a new token.
absl::StatusOr<std::string> PgStore::TakeJoinToken(std::string_view hash,
                                                   std::chrono::system_clock::time_point now) {
  auto lease = pool_.Acquire();
  if (!lease.ok()) {
    return lease.status();
  }
  const auto rows = (*lease)->Query(
      fmt::format("DELETE FROM join_token WHERE hash = $1 AND expires_at > {} RETURNING node",
                  TimeParam(2)),
      Params().Text(hash).Time(now));
  if (!rows.ok()) {
    return rows.status();
  }
  if (rows->size() == 0) {
    return Error(absl::StatusCode::kNotFound,
                 "the join token is unknown, used or expired; make a new one with croft create "
                 "token");
  }
  return std::string(rows->Text(0, 0));
}

absl::StatusOr<std::optional<OperatorSession>> PgStore::FindOperatorToken(std::string_view hash) {
  const auto rows = Query(
      fmt::format("{} WHERE NOT r.deleted AND (r.type, r.uid) IN ("
                  "  SELECT 103::smallint, token_uid FROM operator_token WHERE hash = $1 UNION ALL"
                  "  SELECT 102::smallint, operator_uid FROM operator_token WHERE hash = $1) "
                  "ORDER BY r.type",
                  kSelectResource),
      Params().Text(hash));
  if (!rows.ok()) {
    return rows.status();
  }
  if (rows->size() != 2) {
    return std::nullopt;
  }
  return OperatorSession{.token_row = ToStoredResource(*rows, 1),
                         .operator_row = ToStoredResource(*rows, 0)};
}

absl::StatusOr<std::vector<std::string>> PgStore::ListUnclaimedTokens() {
  const auto rows =
      Query("SELECT hash FROM operator_token WHERE token_uid IS NULL ORDER BY hash", Params());
  if (!rows.ok()) {
    return rows.status();
  }
  std::vector<std::string> hashes;
  for (int row = 0; row < rows->size(); ++row) {
    hashes.emplace_back(rows->Text(row, 0));
  }
  return hashes;
}

absl::StatusOr<std::string> PgStore::PutSecretIfAbsent(std::string_view key,
                                                       std::string_view value) {
  const auto inserted =
      Query("INSERT INTO secret (key, value) VALUES ($1, $2::bytea) ON CONFLICT (key) DO NOTHING",
            Params().Text(key).Bytes(value));
  if (!inserted.ok()) {
    return inserted.status();
  }
  const auto rows = Query("SELECT value FROM secret WHERE key = $1", Params().Text(key));
  if (!rows.ok()) {
    return rows.status();
  }
  if (rows->size() == 0) {
    return Error(absl::StatusCode::kInternal, "database: secret {} vanished", key);
  }
  return rows->Bytes(0, 0);
}

}  // namespace croft::control::store
