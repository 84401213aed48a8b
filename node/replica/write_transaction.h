// The writer's transaction on LMDB, internal to node/replica.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/replica/environment.h"
#include "node/replica/record_keys.h"
#include "node/replica/writer.h"

namespace croft::node::replica {

// The meta table, parsed.
struct ReplicaMeta {
  v1::Position position;
  std::optional<v1::SnapshotRange> snapshot;
  std::optional<v1::Position> partial;
  std::map<Key, v1::RecordResult> quarantine;
};

struct Writer::State {
  std::shared_ptr<Environment> environment;
  ReplicaMeta meta;
};

class WriteTransaction final : public Writer::Transaction {
 public:
  static absl::StatusOr<std::unique_ptr<WriteTransaction>> Begin(Writer::State& state);
  ~WriteTransaction() override;

  absl::StatusOr<std::optional<Writer::Held>> Find(Key key) override;
  absl::Status Apply(const v1::Record& record, bool force) override;
  absl::Status ReplaceHeld(Key key, const Writer::Held& held) override;
  absl::StatusOr<std::vector<Key>> DeleteGaps(const v1::SnapshotRange& range,
                                              const std::vector<std::int64_t>& keep) override;
  absl::Status NoteGaps(const v1::SnapshotRange& range,
                        const std::vector<std::int64_t>& keep) override;
  absl::StatusOr<std::vector<Key>> ListVanishing() override;
  absl::Status ForgetVanishing() override;
  absl::StatusOr<std::int64_t> Count(v1::RecordType type) override;
  absl::Status SetQuarantine(const v1::RecordResult& result) override;
  absl::Status ClearQuarantine(Key key) override;
  absl::Status SetPosition(const v1::Position& position) override;
  absl::Status SetUnfinishedSnapshot(const std::optional<v1::SnapshotRange>& range) override;
  absl::Status SetPartialDelta(const std::optional<v1::Position>& target) override;
  absl::Status Commit() override;

 private:
  struct Claim {
    v1::RecordType type;
    std::int64_t uid;
    std::int64_t revision;
    bool force;
  };

  WriteTransaction(Writer::State& state, MDB_txn* transaction)
      : state_(state),
        environment_(*state.environment),
        transaction_(transaction),
        meta_(state.meta) {}

  absl::Status Put(MDB_dbi table, std::string_view key, std::string_view payload);
  absl::Status Delete(MDB_dbi table, std::string_view key);
  // Makes `key` lead to the claim's record, unless another record that claims it was changed later.
  absl::Status Point(MDB_dbi table, std::string_view key, const Claim& claim);
  // Removes `key` if it leads to `uid`.
  absl::Status Unpoint(MDB_dbi table, std::string_view key, std::int64_t uid);
  absl::StatusOr<RecordKeys> HeldKeys(v1::RecordType type, const std::optional<Writer::Held>& held);
  absl::Status Remove(Key key);
  absl::StatusOr<std::vector<Key>> ListGaps(const v1::SnapshotRange& range,
                                            const std::vector<std::int64_t>& keep);
  // `code` as a status; a write that failed for want of space says so.
  absl::Status WriteError(int code, std::string_view what) const;

  Writer::State& state_;
  Environment& environment_;
  MDB_txn* transaction_;
  ReplicaMeta meta_;       // what Commit publishes
  std::size_t bytes_ = 0;  // put so far
};

}  // namespace croft::node::replica
