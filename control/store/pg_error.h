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

}  // namespace croft::control::store
