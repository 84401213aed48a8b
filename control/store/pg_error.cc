#include "control/store/pg_error.h"

#include <exception>
#include <new>
#include <pqxx/except>
#include <string>

#include "proto/base/error.h"

namespace croft::control::store {
namespace {

using absl::StatusCode;

// PostgreSQL's messages end in a newline and may have several lines.
std::string OneLine(std::string_view text) {
  std::string line(text);
  while (!line.empty() && line.back() == '\n') {
    line.pop_back();
  }
  for (char& c : line) {
    if (c == '\n') {
      c = ' ';
    }
  }
  return line;
}

// Shutting down, starting up, or turned into a standby: a new connection may find the new primary.
bool MeansReconnect(std::string_view sql_state) {
  return sql_state.starts_with("08") || sql_state.starts_with("57P") || sql_state == "25006";
}

}  // namespace

StatusCode CodeOfSqlState(std::string_view sql_state) {
  if (MeansReconnect(sql_state) || sql_state == "53300") {
    return StatusCode::kUnavailable;  // also: too many connections
  }
  if (sql_state == "23505") {
    return StatusCode::kAlreadyExists;
  }
  if (sql_state.starts_with("23")) {
    return StatusCode::kFailedPrecondition;
  }
  if (sql_state == "40001" || sql_state == "40P01" || sql_state == "55P03") {
    return StatusCode::kAborted;  // serialisation, deadlock, lock not available
  }
  if (sql_state == "57014") {
    return StatusCode::kDeadlineExceeded;
  }
  if (sql_state.starts_with("53")) {
    return StatusCode::kResourceExhausted;  // disk full, out of memory
  }
  if (sql_state == "22021" || sql_state == "22P05") {
    return StatusCode::kInvalidArgument;  // not UTF-8
  }
  if (sql_state.starts_with("28") || sql_state == "42501" || sql_state == "3D000") {
    return StatusCode::kFailedPrecondition;  // password, permission, no such database
  }
  return StatusCode::kInternal;
}

PgError TranslateCurrentException() noexcept {
  try {
    std::rethrow_exception(std::current_exception());
  } catch (const pqxx::broken_connection& e) {
    return {Error(StatusCode::kUnavailable, "database: {}", OneLine(e.what())), true};
  } catch (const pqxx::sql_error& e) {
    const StatusCode code = CodeOfSqlState(e.sqlstate());
    return {Error(code, "database: {} (SQLSTATE {})", OneLine(e.what()), e.sqlstate()),
            MeansReconnect(e.sqlstate())};
  } catch (const std::bad_alloc&) {
    return {Error(StatusCode::kResourceExhausted, "database: out of memory"), true};
  } catch (const std::exception& e) {
    return {Error(StatusCode::kInternal, "database: {}", OneLine(e.what())), true};
  } catch (...) {
    return {Error(StatusCode::kInternal, "database: unknown exception"), true};
  }
}

}  // namespace croft::control::store
