#include "control/store/pg_connection.h"

#include <algorithm>
#include <pqxx/connection>
#include <pqxx/errorhandler>
#include <pqxx/nontransaction>
#include <pqxx/notification>
#include <pqxx/prepared_statement>
#include <pqxx/result>
#include <pqxx/stream_to>
#include <utility>

#include "control/store/pg_error.h"
#include "proto/base/error.h"

namespace croft::control::store {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

// With no more connections to be had: how soon that is tried again, and how long when none of our
// own can come back.
constexpr std::chrono::milliseconds kFullRetry{100};
constexpr std::chrono::milliseconds kFullPatience{1000};

void AppendHex(std::string_view bytes, std::string& out) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kHexDigits[byte >> 4];
    out += kHexDigits[byte & 15];
  }
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
}

// An array literal; every element quoted.
template <typename Append>
std::string ArrayLiteral(const std::vector<std::string>& values, Append append) {
  std::string literal = "{";
  for (const std::string& value : values) {
    literal += literal.size() == 1 ? "\"" : ",\"";
    append(value, literal);
    literal += '"';
  }
  return literal + "}";
}

class CountingReceiver final : public pqxx::notification_receiver {
 public:
  using notification_receiver::notification_receiver;
  void operator()(const std::string& /*payload*/, int /*backend_pid*/) override { ++count_; }
  int Take() { return std::exchange(count_, 0); }

 private:
  int count_ = 0;
};

}  // namespace

std::string WithDefaults(const PgOptions& options) {
  std::string url = options.url;
  const bool is_uri = url.starts_with("postgres://") || url.starts_with("postgresql://");
  char separator = is_uri ? (url.find('?') == std::string::npos ? '?' : '&') : ' ';
  const auto add = [&](std::string_view key, std::string_view value) {
    if (url.find(std::string(key) + "=") == std::string::npos) {
      url += fmt::format("{}{}={}", separator, key, value);
      separator = is_uri ? '&' : ' ';
    }
  };
  add("connect_timeout", std::to_string(options.connect_timeout.count() / 1000));
  add("target_session_attrs", "read-write");
  add("keepalives_idle", "10");
  add("keepalives_interval", "5");
  add("keepalives_count", "3");
  add("tcp_user_timeout", "30000");
  return url;
}

Params& Params::Int(std::int64_t value) {
  values_.push_back(std::to_string(value));
  return *this;
}

Params& Params::Text(std::string_view value) {
  std::string& text = values_.emplace_back();
  for (const char c : value) {
    if (c == '\0') {
      text += "\xEF\xBF\xBD";
    } else {
      text += c;
    }
  }
  return *this;
}

Params& Params::Bytes(std::string_view value) {
  std::string& hex = values_.emplace_back("\\x");
  hex.reserve(2 + 2 * value.size());
  AppendHex(value, hex);
  return *this;
}

Params& Params::Bool(bool value) {
  values_.emplace_back(value ? "t" : "f");
  return *this;
}

Params& Params::Time(std::chrono::system_clock::time_point value) {
  return Int(
      std::chrono::duration_cast<std::chrono::microseconds>(value.time_since_epoch()).count());
}

Params& Params::Ints(const std::vector<std::int64_t>& values) {
  std::string& literal = values_.emplace_back("{");
  for (const std::int64_t value : values) {
    literal += literal.size() == 1 ? "" : ",";
    literal += std::to_string(value);
  }
  literal += '}';
  return *this;
}

Params& Params::Texts(const std::vector<std::string>& values) {
  values_.push_back(ArrayLiteral(values, [](std::string_view value, std::string& out) {
    for (const char c : value) {
      if (c == '"' || c == '\\') {
        out += '\\';
      }
      out += c == '\0' ? ' ' : c;
    }
  }));
  return *this;
}

Params& Params::HexTexts(const std::vector<std::string>& values) {
  values_.push_back(ArrayLiteral(values, AppendHex));
  return *this;
}

struct Rows::Impl {
  pqxx::result result;
};

Rows::Rows() = default;
Rows::Rows(Rows&&) noexcept = default;
Rows& Rows::operator=(Rows&&) noexcept = default;
Rows::~Rows() = default;

int Rows::size() const { return impl_ == nullptr ? 0 : static_cast<int>(impl_->result.size()); }

std::string_view Rows::Text(int row, int column) const {
  const pqxx::field field = impl_->result[static_cast<pqxx::result_size_type>(row)]
                                         [static_cast<pqxx::row_size_type>(column)];
  return {field.c_str(), field.size()};
}

std::int64_t Rows::Int(int row, int column) const {
  const std::string_view text = Text(row, column);
  return text.empty() ? 0 : std::strtoll(text.data(), nullptr, 10);
}

bool Rows::Bool(int row, int column) const { return Text(row, column) == "t"; }

std::string Rows::Bytes(int row, int column) const {
  const std::string_view hex = Text(row, column);
  std::string bytes;
  if (!hex.starts_with("\\x")) {
    return bytes;
  }
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 2; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(HexValue(hex[i]) * 16 + HexValue(hex[i + 1]));
  }
  return bytes;
}

std::chrono::system_clock::time_point Rows::Time(int row, int column) const {
  return std::chrono::system_clock::time_point(std::chrono::microseconds(Int(row, column)));
}

std::int64_t Rows::affected() const {
  return impl_ == nullptr ? 0 : static_cast<std::int64_t>(impl_->result.affected_rows());
}

struct Connection::Impl {
  Impl(const PgOptions& options, AnswerWatch& answers)
      : connection(options.url), quiet(connection), watch(answers), limit(options.answer_timeout) {}

  AnswerWatch::Turn Await(std::chrono::milliseconds longer = {}) {
    return AnswerWatch::Turn(watch, connection.sock(), std::max(limit, longer));
  }

  pqxx::connection connection;
  pqxx::quiet_errorhandler quiet;
  std::unique_ptr<CountingReceiver> receiver;
  AnswerWatch& watch;
  const std::chrono::milliseconds limit;
};

Connection::Connection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Connection::~Connection() = default;

absl::Status Connection::Failed(const AnswerWatch::Turn& turn) {
  PgError error = TranslateCurrentException();
  broken_ = broken_ || error.broken || turn.expired();
  return turn.expired() ? Error(absl::StatusCode::kUnavailable, "database: no answer within {} ms",
                                impl_->limit.count())
                        : std::move(error.status);
}

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(const PgOptions& options,
                                                             AnswerWatch& watch) {
  std::unique_ptr<Connection> connection;
  try {
    connection = std::make_unique<Connection>(std::make_unique<Impl>(options, watch));
  } catch (...) {
    absl::Status status = TranslateCurrentException().status;
    return absl::Status(status.code() == absl::StatusCode::kInternal
                            ? absl::StatusCode::kUnavailable
                            : status.code(),
                        status.message());
  }
  // Every wait in the server has an end; nothing of a session's settings is relied on after a
  // reconnect, since there is none.
  const absl::Status status = connection->Execute(fmt::format(
      "SET statement_timeout = {}; SET lock_timeout = {}; "
      "SET idle_in_transaction_session_timeout = 60000; SET client_min_messages = warning; "
      "SET bytea_output = hex; SET application_name = 'croft-control'",
      options.statement_timeout.count(), options.lock_timeout.count()));
  if (!status.ok()) {
    return status;
  }
  return connection;
}

// libpqxx would open another session by itself, without our settings and outside our transaction.
absl::Status Connection::CheckUsable() const {
  return broken_ ? Error(absl::StatusCode::kUnavailable, "database: the connection is lost")
                 : absl::OkStatus();
}

absl::Status Connection::Execute(std::string_view sql, std::chrono::milliseconds limit) {
  if (absl::Status usable = CheckUsable(); !usable.ok()) {
    return usable;
  }
  const AnswerWatch::Turn turn = impl_->Await(limit);
  try {
    pqxx::nontransaction session(impl_->connection);
    session.exec(std::string(sql));
    return absl::OkStatus();
  } catch (...) {
    return Failed(turn);
  }
}

absl::StatusOr<Rows> Connection::Query(std::string_view sql, const Params& params) {
  if (absl::Status usable = CheckUsable(); !usable.ok()) {
    return usable;
  }
  const AnswerWatch::Turn turn = impl_->Await();
  try {
    pqxx::nontransaction session(impl_->connection);
    Rows rows;
    rows.impl_ = std::make_unique<Rows::Impl>();
    rows.impl_->result =
        session.exec_params(std::string(sql), pqxx::prepare::make_dynamic_params(params.values()));
    return rows;
  } catch (...) {
    return Failed(turn);
  }
}

absl::Status Connection::Copy(std::string_view table, const std::vector<std::string>& columns,
                              const std::vector<CopyRow>& rows) {
  if (absl::Status usable = CheckUsable(); !usable.ok()) {
    return usable;
  }
  const AnswerWatch::Turn turn = impl_->Await();
  try {
    pqxx::nontransaction session(impl_->connection);
    pqxx::stream_to stream(session, std::string(table), columns);
    for (const CopyRow& row : rows) {
      stream << row;
    }
    stream.complete();
    return absl::OkStatus();
  } catch (...) {
    return Failed(turn);
  }
}

absl::Status Connection::Listen(std::string_view channel) {
  const AnswerWatch::Turn turn = impl_->Await();
  try {
    impl_->receiver = std::make_unique<CountingReceiver>(impl_->connection, std::string(channel));
    return absl::OkStatus();
  } catch (...) {
    return Failed(turn);
  }
}

absl::StatusOr<int> Connection::AwaitNotifications(std::chrono::milliseconds timeout) {
  const AnswerWatch::Turn turn = impl_->Await(timeout + impl_->limit);
  try {
    const long seconds = static_cast<long>(timeout.count() / 1000);
    const long microseconds = static_cast<long>(timeout.count() % 1000) * 1000;
    impl_->connection.await_notification(seconds, microseconds);
    if (!impl_->connection.is_open()) {
      broken_ = true;
      return Error(absl::StatusCode::kUnavailable, "database: the connection is lost");
    }
    return impl_->receiver->Take();
  } catch (...) {
    return Failed(turn);
  }
}

ConnectionPool::Lease::~Lease() {
  if (connection_ != nullptr) {
    pool_->Return(std::move(connection_));
  }
}

void ConnectionPool::Lease::Discard() {
  if (connection_ != nullptr) {
    connection_.reset();
    pool_->Return(nullptr);
  }
}

absl::StatusOr<ConnectionPool::Lease> ConnectionPool::Acquire() {
  const auto start = std::chrono::steady_clock::now();
  const auto deadline = start + options_.acquire_timeout;
  for (;;) {
    if (auto connection = TakeIdle(deadline); !connection.ok() || *connection != nullptr) {
      return connection.ok() ? absl::StatusOr<Lease>(Lease(*this, *std::move(connection)))
                             : connection.status();
    }
    auto opened = Connection::Open(options_, watch_);
    if (opened.ok()) {
      return Lease(*this, *std::move(opened));
    }
    const bool is_full = IsOutOfConnections(std::string(opened.status().message()));
    const bool has_others = is_full && AwaitIdle();
    Return(nullptr);
    if (!is_full ||
        std::chrono::steady_clock::now() >= (has_others ? deadline : start + kFullPatience)) {
      return opened.status();
    }
  }
}

absl::StatusOr<std::unique_ptr<Connection>> ConnectionPool::TakeIdle(
    std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  const bool free =
      returned_.wait_until(lock, deadline, [this] { return lent_ < options_.connections_max; });
  if (!free) {
    return Error(absl::StatusCode::kUnavailable,
                 "database: all {} connections were busy for {} ms; try again",
                 options_.connections_max, options_.acquire_timeout.count());
  }
  ++lent_;
  if (idle_.empty()) {
    return nullptr;
  }
  std::unique_ptr<Connection> connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

// The caller counts as one that is lent. PostgreSQL also needs a moment to see that one was closed.
bool ConnectionPool::AwaitIdle() {
  std::unique_lock lock(mutex_);
  ++waiting_;
  const bool has_others = lent_ > waiting_;
  returned_.wait_for(lock, has_others ? kFullPatience : kFullRetry,
                     [this] { return !idle_.empty(); });
  --waiting_;
  return has_others;
}

void ConnectionPool::Return(std::unique_ptr<Connection> connection) {
  {
    const std::lock_guard lock(mutex_);
    --lent_;
    if (connection != nullptr && !connection->broken()) {
      idle_.push_back(std::move(connection));
    }
  }
  returned_.notify_all();
}

void ConnectionPool::DropIdle() {
  std::vector<std::unique_ptr<Connection>> dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(idle_);
}

}  // namespace croft::control::store
