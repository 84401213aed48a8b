// Turns what control sends into changes of the replica: judges each record by the contract's rules,
// keeps the last good version of a bad one, commits a delta at its cut and a snapshot batch by
// batch. Knows no stream and no time. One thread, the one that writes the replica.
//
// Heartbeats are the stream's: the agent answers each of control's with the same sequence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "croft/node/v1/feed.pb.h"
#include "node/agent/ack_notes.h"
#include "node/replica/writer.h"

namespace croft::node::agent {

inline constexpr std::uint32_t kSchemaLevel = 1;

struct ApplierOptions {
  std::string version;
  // Where the node keeps its own files; a store in it is refused.
  std::string own_directory;
  // A delta larger than this commits in parts.
  std::size_t transaction_bytes_max = std::size_t{64} << 20;
  // A snapshot of another history is refused when it would take away more sites than both of these,
  // unless control says that this number was accepted.
  std::int64_t vanishing_sites_max = 10;
  int vanishing_percent_max = 50;
};

struct ApplyOutcome {
  // To be sent to control.
  std::optional<v1::Ack> ack;
  // Something was committed: tell the listener (ReplicaChanged), with `changed`, or with `all` when
  // that is set.
  bool committed = false;
  std::vector<v1::RecordKey> changed;
  bool all = false;
  // What the replica holds now.
  v1::Position position;
  // Why changes cannot be applied, for Marks.problem; empty when they can.
  std::string problem;
  // Sites that would vanish, which control was not told to be meant.
  std::optional<croft::v1::VanishingSites> vanishing;
  // The stream is of no more use: close it and connect again after a back-off.
  bool close_stream = false;
  // The replica is damaged: set the generation aside (Generations::SetAsideCurrent), open the other
  // and start again with it.
  bool damaged = false;
};

class FeedApplier {
 public:
  // `writer` must outlive this.
  FeedApplier(replica::Writer& writer, ApplierOptions options);
  ~FeedApplier();

  // First message of a new stream; drops what an earlier one left unfinished. The caller adds
  // endpoints.
  v1::Hello MakeHello();
  // Welcome or Batch; any other message changes nothing.
  ApplyOutcome OnControlMessage(const v1::ControlMessage& message);
  // A delta that did not reach its cut leaves no trace.
  void OnStreamLost();

 private:
  absl::Status OnWelcome(const v1::Welcome& welcome);
  absl::Status OnBatch(const v1::Batch& batch, ApplyOutcome& outcome);
  absl::Status OnDeltaBatch(const v1::Batch& batch, ApplyOutcome& outcome);
  absl::Status OnSnapshotBatch(const v1::Batch& batch, ApplyOutcome& outcome);
  absl::Status CheckDelta(const v1::Batch& batch) const;
  absl::Status ApplyRecords(const v1::Batch& batch, bool force);
  absl::Status ApplyOne(const v1::Record& record, bool force);
  // Quarantines the record; what it stops is stopped all the same.
  absl::Status Refuse(const v1::Record& record, std::string reason);
  absl::Status Release(replica::Key key);
  absl::Status RemoveGaps(const v1::Batch& batch);
  absl::Status RemoveVanishing();
  bool IsAccepted(std::int64_t vanishing) const;

  absl::Status Begin();
  absl::Status CommitDelta(const v1::Batch& batch, ApplyOutcome& outcome);
  absl::Status Commit(ApplyOutcome& outcome);
  // Drops the open transaction.
  void Abandon();
  void NoteChanged(replica::Key key);

  // Constant after construction.
  replica::Writer& writer_;
  const ApplierOptions options_;

  // Of the stream.
  v1::Welcome welcome_;
  AckNotes notes_;
  bool in_snapshot_ = false;  // a snapshot's batch was taken in since the welcome
  std::string problem_;
  std::optional<croft::v1::VanishingSites> vanishing_;  // outlives the stream

  // Of the delta, or the batch of a snapshot, being applied.
  std::unique_ptr<replica::Writer::Transaction> transaction_;
  v1::Position target_;  // where the delta leads
  int next_index_ = 0;
  std::size_t bytes_ = 0;
  std::set<replica::Key> quarantined_;
  std::vector<replica::Key> changed_;
  bool all_changed_ = false;
};

}  // namespace croft::node::agent
