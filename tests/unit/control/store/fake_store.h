// The store in memory, for tests and the feed's simulation; passes the same contract test as the
// one on PostgreSQL. Thread-safe. A transaction works on a copy and is replayed at commit, so
// transactions may be open at the same time; where PostgreSQL would have made one wait for the
// other's row lock, the later commit is aborted.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/store/store.h"
#include "proto/base/clock.h"

namespace croft::control::store {

class FakeStore final : public Store {
 public:
  using RowKey = std::pair<int, std::int64_t>;  // TypeNumber, uid

  struct LoggedChange {
    std::uint64_t tag = 0;
    v1::Change change;
    std::shared_ptr<const std::vector<Version>> versions;  // in order of type and uid
  };
  // All that a transaction can change. Kept as values, so that a copy is a point in time.
  struct State {
    std::map<RowKey, StoredResource> rows;             // tombstones too
    std::map<std::string, RowKey, std::less<>> names;  // live ones
    std::map<std::pair<std::int64_t, std::string>, std::int64_t> bindings;
    std::map<RowKey, std::vector<std::string>> references;
    std::map<std::pair<std::int64_t, std::string>, std::string> homes;  // live accounts' names
    std::map<std::int64_t, std::int64_t> home_slots;
    std::map<std::int64_t, LoggedChange> changes;  // by revision
    std::map<std::pair<std::string, std::string>, KnownRequest> requests;
    std::map<std::string, std::pair<std::int64_t, std::int64_t>, std::less<>>
        token_hashes;  // uids of token and operator; 0 where unclaimed
    std::map<std::int64_t, StoredOperation> operations;
    node::v1::Position position;
    std::int64_t compaction_floor = 0;
  };

  // Tags and the epoch are drawn from `seed`. `clock` must outlive the store; null: the system's.
  explicit FakeStore(std::uint64_t seed = 1, const Clock* clock = nullptr);
  ~FakeStore() override;

  // ---- what only a fake can do
  // A point in time, and back to it: what a failover to a lagging standby does. Revisions are used
  // again, with other tags.
  std::shared_ptr<const State> Save();
  void Restore(std::shared_ptr<const State> state);
  // What a restore from a dump does.
  void StartNewEpoch();
  // Every call fails with unavailable until set back.
  void SetAvailable(bool available);
  // A token as a database from before tokens were resources has it.
  void AddUnclaimedToken(std::string_view hash);
  // Purges every tombstone up to the revision, however young.
  void PurgeThrough(std::int64_t revision);
  // As if edited by hand: no change, no revision.
  void OverwriteBody(ResourceType type, std::int64_t uid, std::string body);

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
  friend class FakeTransaction;

  // One row of counter history: what it is of, and the part of its step it came in.
  struct CounterKey {
    std::int64_t at = 0;
    contract::counters::InstanceType type = contract::counters::InstanceType::kNode;
    std::int64_t uid = 0, node_uid = 0, id = 0;

    auto operator<=>(const CounterKey&) const = default;
  };

  struct JoinToken {
    std::string node;
    std::chrono::system_clock::time_point expires;
  };

  // Whether the row belongs to one of the organizations or to one below them.
  static bool IsWithin(const State& state, const StoredResource& row,
                       const std::vector<std::int64_t>& organizations);
  static bool IsListed(const State& state, const StoredResource& row, const ListQuery& query);
  // Of the tombstones, and raises the floor.
  void Purge(const std::function<bool(const StoredResource&)>& is_old, std::int64_t floor);
  void PurgeOperations();
  // The current state, or unavailable.
  absl::StatusOr<std::shared_ptr<const State>> Current();
  std::uint64_t DrawId();
  std::chrono::system_clock::time_point Now() const;
  // REQUIRES: mutex_ is held.
  void Publish(std::shared_ptr<const State> state);

  const SystemClock system_clock_;
  const Clock* const clock_;

  std::mutex mutex_;  // protects all below
  std::condition_variable notified_;
  bool available_ = true;
  bool notify_pending_ = false;
  std::mt19937_64 random_;
  std::shared_ptr<const State> state_;
  std::int64_t next_uid_ = 1;
  std::int64_t next_change_id_ = 1;
  std::map<std::int64_t, NodeMarks> marks_;
  std::map<std::string, JoinToken, std::less<>> join_tokens_;
  std::map<std::string, std::string, std::less<>> secrets_;
  std::vector<v1::Event> events_;
  std::map<CounterKey, std::vector<std::int64_t>> counters_;
  std::array<std::int64_t, kHistorySteps.size()> counters_from_{};  // what is older is dropped
};

}  // namespace croft::control::store
