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

absl::Status PgStore::InsertOperatorToken(std::string_view hash, std::string_view who) {
  return Query(
             "INSERT INTO operator_token (hash, who) VALUES ($1, $2) "
             "ON CONFLICT (hash) DO UPDATE SET who = excluded.who",
             Params().Text(hash).Text(who))
      .status();
}

absl::StatusOr<std::optional<std::string>> PgStore::FindOperatorToken(std::string_view hash) {
  const auto rows = Query("SELECT who FROM operator_token WHERE hash = $1", Params().Text(hash));
  if (!rows.ok()) {
    return rows.status();
  }
  return rows->size() == 0 ? std::nullopt : std::optional(std::string(rows->Text(0, 0)));
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
