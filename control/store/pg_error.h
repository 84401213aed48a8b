// From libpqxx's exceptions to statuses: the one place that knows both.
#pragma once

#include <absl/status/status.h>

#include <string_view>

namespace croft::control::store {

struct PgError {
  absl::Status status;
  bool broken = false;  // the connection is lost
};

// REQUIRES: called inside a catch block.
PgError TranslateCurrentException() noexcept;

// The status of a SQLSTATE (five characters; empty: unknown).
absl::StatusCode CodeOfSqlState(std::string_view sql_state);

// What an operator can do about an error with that SQLSTATE and text ("; ..."); empty for what is
// no trouble of the server's.
std::string_view WayOut(std::string_view sql_state, std::string_view text);

// Whether a connection was refused because there are too many.
bool IsOutOfConnections(std::string_view text);

}  // namespace croft::control::store
