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

// What a lost or refused connection says of itself is text only.
bool Says(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string WithWayOut(const std::exception& error, std::string_view sql_state = {}) {
  std::string text = OneLine(error.what());
  if (!sql_state.empty()) {
    text += fmt::format(" (SQLSTATE {})", sql_state);
  }
  return text + std::string(WayOut(sql_state, text));
}

}  // namespace

std::string_view WayOut(std::string_view sql_state, std::string_view text) {
  if (sql_state == "53100" || Says(text, "No space left on device")) {
    return "; its disk is full: make room there, control goes on by itself";
  }
  if (IsOutOfConnections(text)) {
    return "; raise PostgreSQL's max_connections or the role's connection limit, or end what else "
           "has connections; control goes on by itself";
  }
  if (sql_state == "25006" || Says(text, "session is read-only")) {
    return "; it takes no writes: a standby, or default_transaction_read_only is on; control goes "
           "on by itself once it does";
  }
  const bool away = sql_state.empty() && (Says(text, "connect") || Says(text, "closed"));
  return away || MeansReconnect(sql_state) ? "; control goes on by itself once PostgreSQL answers"
                                           : "";
}

bool IsOutOfConnections(std::string_view text) {
  return Says(text, "too many connections") || Says(text, "too many clients") ||
         Says(text, "connection slots are reserved");
}

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
    return {Error(StatusCode::kUnavailable, "database: {}", WithWayOut(e)), true};
  } catch (const pqxx::sql_error& e) {
    const StatusCode code = CodeOfSqlState(e.sqlstate());
    return {Error(code, "database: {}", WithWayOut(e, e.sqlstate())), MeansReconnect(e.sqlstate())};
  } catch (const std::bad_alloc&) {
    return {Error(StatusCode::kResourceExhausted, "database: out of memory"), true};
  } catch (const std::exception& e) {
    return {Error(StatusCode::kInternal, "database: {}", OneLine(e.what())), true};
  } catch (...) {
    return {Error(StatusCode::kInternal, "database: unknown exception"), true};
  }
}

}  // namespace croft::control::store
