// Writes a replica: the agent's, on one thread. A transaction applies the batches of one delta and
// commits at the cut, so that a reader sees the old revision or the new one; a snapshot commits
// batch by batch. Disk full is told by statvfs, since LMDB says EIO.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "croft/node/v1/feed.pb.h"
#include "node/replica/replica_format.h"

namespace croft::node::replica {

struct WriterOptions {
  // false: a commit survives the process but not the machine; for tests.
  bool sync = true;
};

class Writer {
 public:
  // Opens or creates the replica in `directory` (0750; data 0640, lock 0660, group as the
  // directory's). A Reader in the same process is to be opened after it. data_loss if the file is
  // damaged.
  static absl::StatusOr<std::unique_ptr<Writer>> Open(const std::string& directory,
                                                      WriterOptions options = {});
  ~Writer();

  // As of the last commit.
  const v1::Position& position() const;
  std::optional<v1::SnapshotRange> unfinished_snapshot() const;
  // Set while a delta too large for one transaction is committed in part: where that delta leads.
  std::optional<v1::Position> partial_delta() const;
  std::vector<v1::RecordResult> quarantine() const;

  struct Held {
    std::int64_t revision = 0;
    std::string body;
  };

  // One write transaction. Everything is durable after Commit returns OK; a destroyed transaction
  // leaves no trace.
  class Transaction {
   public:
    virtual ~Transaction() = default;
    // What the replica holds, this transaction's own writes included.
    virtual absl::StatusOr<std::optional<Held>> Find(Key key) = 0;
    // Stores or deletes the record with its name and bindings. REQUIRES: the body was validated. A
    // record already there with the same or a higher revision stays as it is, except under a
    // snapshot (`force`).
    virtual absl::Status Apply(const v1::Record& record, bool force) = 0;
    // Another body with the same name and bindings for a record; what it claims stays as it is.
    virtual absl::Status ReplaceHeld(Key key, const Held& held) = 0;
    // Deletes what is held of the type with after < uid <= through and is not in `keep` (ascending
    // uids); returns the deleted keys.
    virtual absl::StatusOr<std::vector<Key>> DeleteGaps(const v1::SnapshotRange& range,
                                                        const std::vector<std::int64_t>& keep) = 0;
    // As DeleteGaps, but only notes the keys as vanishing, so that their number is known before any
    // of them goes.
    virtual absl::Status NoteGaps(const v1::SnapshotRange& range,
                                  const std::vector<std::int64_t>& keep) = 0;
    virtual absl::StatusOr<std::vector<Key>> ListVanishing() = 0;
    // Takes the notes back; the records stay unless they were deleted.
    virtual absl::Status ForgetVanishing() = 0;
    virtual absl::StatusOr<std::int64_t> Count(v1::RecordType type) = 0;
    virtual absl::Status SetQuarantine(const v1::RecordResult& result) = 0;
    virtual absl::Status ClearQuarantine(Key key) = 0;
    virtual absl::Status SetPosition(const v1::Position& position) = 0;
    virtual absl::Status SetUnfinishedSnapshot(const std::optional<v1::SnapshotRange>& range) = 0;
    virtual absl::Status SetPartialDelta(const std::optional<v1::Position>& target) = 0;
    // resource_exhausted "disk full: ..." leaves the replica as before.
    virtual absl::Status Commit() = 0;
  };
  // One at a time.
  absl::StatusOr<std::unique_ptr<Transaction>> Begin();

 private:
  friend class WriteTransaction;
  struct State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace croft::node::replica
