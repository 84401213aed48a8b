// The store on PostgreSQL: one class, its methods in a file per subject (pg_resources, pg_feed,
// pg_nodes, pg_identity, pg_events, pg_operations, pg_counters,
// pg_counter_rollup).
#pragma once

#include <concepts>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "control/store/pg_connection.h"
#include "control/store/store.h"
#include "proto/base/random.h"

namespace croft::control::store {

class PgStore final : public Store {
 public:
  explicit PgStore(const PgOptions& options)
      : options_(options), pool_(options, watch_), instance_(RandomId()) {}

  absl::StatusOr<std::unique_ptr<Transaction>> Begin() override;
  absl::StatusOr<std::optional<StoredResource>> Find(std::string_view name) override;
  absl::StatusOr<std::optional<StoredResource>> FindDeleted(std::string_view name) override;
  absl::StatusOr<std::optional<StoredResource>> FindByUid(ResourceType type,
                                                          std::int64_t uid) override;
  absl::StatusOr<std::vector<StoredResource>> List(const ListQuery& query) override;
  absl::StatusOr<std::optional<std::int64_t>> FindBinding(std::int64_t farm_uid,
                                                          std::string_view encoded_key) override;
  absl::StatusOr<std::optional<KnownRequest>> FindRequest(std::string_view who,
                                                          std::string_view request_id) override;
  absl::StatusOr<std::vector<v1::Change>> ListChanges(const ChangeQuery& query) override;
  absl::StatusOr<LogPage> ListLog(const LogPosition& after, std::int64_t last_revision,
                                  int limit) override;
  absl::StatusOr<HistoryPage> ListHistory(std::string_view name, const HistoryPosition& from,
                                          int limit) override;
  absl::StatusOr<std::optional<StoredResource>> FindAsOf(ResourceType type, std::int64_t uid,
                                                         std::int64_t revision) override;
  absl::StatusOr<std::vector<StoredResource>> ListWritten(std::int64_t revision, ResourceType type,
                                                          int limit) override;

  absl::StatusOr<std::optional<StoredOperation>> FindOperation(std::int64_t uid) override;
  absl::StatusOr<std::vector<StoredOperation>> ListOperations(const OperationQuery& query) override;
  absl::StatusOr<std::optional<StoredOperation>> ClaimOperation() override;

  absl::StatusOr<FeedHead> GetHead() override;
  absl::StatusOr<bool> KnowsPosition(const node::v1::Position& position) override;
  absl::StatusOr<node::v1::Position> ReadDelta(
      std::int64_t farm_uid, std::int64_t since_revision,
      const std::function<void(node::v1::Record)>& emit) override;
  absl::StatusOr<std::vector<node::v1::Record>> ReadSnapshotChunk(std::int64_t farm_uid,
                                                                  node::v1::RecordType type,
                                                                  std::int64_t after_uid,
                                                                  int limit) override;
  absl::Status Compact(std::chrono::system_clock::time_point deleted_before) override;
  absl::StatusOr<bool> WaitForNotify(std::chrono::milliseconds timeout) override;

  absl::Status WriteMarks(const std::vector<NodeMarks>& marks) override;
  absl::StatusOr<std::vector<NodeMarks>> ReadMarks(std::int64_t farm_uid) override;
  absl::Status AcceptVanishing(std::int64_t node_uid, const v1::VanishingSites& accepted) override;

  absl::Status InsertJoinToken(std::string_view hash, std::string_view node,
                               std::chrono::system_clock::time_point expires) override;
  absl::StatusOr<std::string> TakeJoinToken(std::string_view hash,
                                            std::chrono::system_clock::time_point now) override;
  absl::StatusOr<std::optional<OperatorSession>> FindOperatorToken(std::string_view hash) override;
  absl::StatusOr<std::vector<std::string>> ListUnclaimedTokens() override;
  absl::StatusOr<std::string> PutSecretIfAbsent(std::string_view key,
                                                std::string_view value) override;

  absl::Status InsertEvents(const std::vector<v1::Event>& events) override;
  absl::StatusOr<std::vector<v1::Event>> ListEvents(const EventQuery& query) override;

  absl::Status WriteCounters(const CounterStep& step) override;
  absl::StatusOr<std::vector<HistoryPoint>> ReadCounterHistory(const HistoryQuery& query) override;
  absl::StatusOr<bool> TendCounterHistory(std::int64_t now,
                                          const HistoryRetention& retention) override;

 private:
  // Runs `work` on a connection. Repeats it once when the connection was lost, and a few times when
  // the server asks for it (serialisation, deadlock): `work` must be one statement or one
  // transaction, and safe to repeat.
  absl::Status Run(const std::function<absl::Status(Connection&)>& work);
  absl::StatusOr<Rows> Query(std::string_view sql, const Params& params);
  // Sets `total` of changes, and takes away what was read beyond the most that is shown.
  absl::Status CountTouched(std::vector<v1::Change>& changes);
  // Purges up to `limit` rows; how many they were.
  absl::StatusOr<int> Purge(std::chrono::system_clock::time_point deleted_before, int limit);

  const PgOptions options_;
  AnswerWatch watch_;
  ConnectionPool pool_;
  // This process's, in the marks it writes; `listener_` holds its advisory lock, which PostgreSQL
  // lets go when the process has ended, however it did.
  const std::uint64_t instance_;
  // Of WaitForNotify alone (it has one caller).
  std::unique_ptr<Connection> listener_;
};

}  // namespace croft::control::store
