// The store on PostgreSQL.
#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <memory>
#include <string>

#include "control/store/store.h"

namespace croft::control::store {

struct PgOptions {
  // A libpq connection string or URL; several hosts are fine, the writable one is used. Must reach
  // PostgreSQL itself or a pooler in session mode (LISTEN).
  std::string url;
  int connections_max = 16;
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds acquire_timeout{10'000};
  // Of one statement; a batch of a delta counts as one.
  std::chrono::milliseconds statement_timeout{30'000};
  std::chrono::milliseconds lock_timeout{10'000};
  // A server that has not answered after this long, though it should have ended the statement
  // itself, is given up: longer than statement_timeout.
  std::chrono::milliseconds answer_timeout{35'000};
};

// Connects, brings the schema up to date and sees to the epoch.
absl::StatusOr<std::unique_ptr<Store>> OpenPgStore(const PgOptions& options);

}  // namespace croft::control::store
