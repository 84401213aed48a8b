// One open connection to PostgreSQL, and the pool of them. Nothing of libpqxx is seen outside, and
// none of its exceptions: every failure is a status (pg_error.h). A connection is used by one
// thread at a time; the pool is thread-safe.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "control/store/pg_answer_watch.h"
#include "control/store/pg_store.h"

namespace croft::control::store {

// The URL: of several hosts the one that takes writes, a dead peer noticed within half a minute.
// What the operator's URL says itself comes first.
std::string WithDefaults(const PgOptions& options);

// Parameters of a statement, in order: $1, $2, ... The statement casts them.
class Params {
 public:
  Params& Int(std::int64_t value);
  // NUL, which PostgreSQL's text can't hold, becomes U+FFFD.
  Params& Text(std::string_view value);
  Params& Bytes(std::string_view value);
  Params& Bool(bool value);
  // Microseconds since 1970; in the statement: timestamptz 'epoch' + $n::bigint * interval '1us'.
  Params& Time(std::chrono::system_clock::time_point value);
  Params& Ints(const std::vector<std::int64_t>& values);
  Params& Texts(const std::vector<std::string>& values);
  // As text[] of hexadecimal, for decode(x, 'hex').
  Params& HexTexts(const std::vector<std::string>& values);

  const std::vector<std::string>& values() const { return values_; }

 private:
  std::vector<std::string> values_;
};

// A statement's answer. NULL reads as 0, false or "".
class Rows {
 public:
  Rows();
  Rows(Rows&&) noexcept;
  Rows& operator=(Rows&&) noexcept;
  ~Rows();

  int size() const;
  std::string_view Text(int row, int column) const;
  std::int64_t Int(int row, int column) const;
  bool Bool(int row, int column) const;
  std::string Bytes(int row, int column) const;
  // A column selected as microseconds since 1970.
  std::chrono::system_clock::time_point Time(int row, int column) const;
  // Rows an INSERT, UPDATE or DELETE touched.
  std::int64_t affected() const;

 private:
  friend class Connection;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class Connection {
  struct Impl;

 public:
  // `watch` must outlive it.
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const PgOptions& options,
                                                          AnswerWatch& watch);
  explicit Connection(std::unique_ptr<Impl> impl);
  ~Connection();

  // One or several statements without parameters; `limit`: for what takes longer than the options
  // allow.
  absl::Status Execute(std::string_view sql, std::chrono::milliseconds limit = {});
  absl::StatusOr<Rows> Query(std::string_view sql, const Params& params = Params());

  // The one thing that is written in bulk: twelve values of text, a null pointer for NULL.
  using CopyRow = std::array<const char*, 12>;
  // By COPY: the fastest way in, and all or nothing.
  absl::Status Copy(std::string_view table, const std::vector<std::string>& columns,
                    const std::vector<CopyRow>& rows);

  absl::Status Listen(std::string_view channel);
  // Notifications that came within the time.
  absl::StatusOr<int> AwaitNotifications(std::chrono::milliseconds timeout);

  // After a failure of the connection itself: of no more use.
  bool broken() const { return broken_; }

 private:
  // The status of the exception being handled; notes whether the connection is lost.
  absl::Status Failed(const AnswerWatch::Turn& turn);
  absl::Status CheckUsable() const;

  std::unique_ptr<Impl> impl_;
  bool broken_ = false;
};

class ConnectionPool {
 public:
  // A connection on loan; a broken one is dropped instead of returned.
  class Lease {
   public:
    Lease(ConnectionPool& pool, std::unique_ptr<Connection> connection)
        : pool_(&pool), connection_(std::move(connection)) {}
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    Connection* operator->() const { return connection_.get(); }
    Connection& operator*() const { return *connection_; }
    // Not to be used again, whatever its state.
    void Discard();

   private:
    ConnectionPool* pool_;
    std::unique_ptr<Connection> connection_;
  };

  // `watch` must outlive it.
  ConnectionPool(PgOptions options, AnswerWatch& watch)
      : options_(std::move(options)), watch_(watch) {}

  // Waits for a free one at most `acquire_timeout`; then unavailable.
  absl::StatusOr<Lease> Acquire();
  // Closes idle ones: after one was found broken, the others are likely to be too.
  void DropIdle();

 private:
  void Return(std::unique_ptr<Connection> connection);
  // An idle one, or null when one is to be opened; either counts as lent.
  absl::StatusOr<std::unique_ptr<Connection>> TakeIdle(
      std::chrono::steady_clock::time_point deadline);
  // While the server has no more connections: waits a while for one to come back. False when none
  // is lent that could.
  bool AwaitIdle();

  const PgOptions options_;
  AnswerWatch& watch_;
  std::mutex mutex_;  // protects all below
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> idle_;
  int lent_ = 0;
  int waiting_ = 0;  // lent in number only: in AwaitIdle
};

}  // namespace croft::control::store
