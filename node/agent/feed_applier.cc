#include "node/agent/feed_applier.h"

#include <algorithm>
#include <utility>

#include "node/agent/feed_order.h"
#include "node/agent/record_judge.h"
#include "proto/base/error.h"
#include "proto/base/log.h"

namespace croft::node::agent {
namespace {

// More are not worth listing one by one.
constexpr std::size_t kChangedMax = 4096;

}  // namespace

FeedApplier::FeedApplier(replica::Writer& writer, ApplierOptions options)
    : writer_(writer), options_(std::move(options)) {}

FeedApplier::~FeedApplier() = default;

v1::Hello FeedApplier::MakeHello() {
  OnStreamLost();
  v1::Hello hello;
  *hello.mutable_position() = writer_.position();
  if (const auto snapshot = writer_.unfinished_snapshot()) {
    *hello.mutable_snapshot() = *snapshot;
  }
  if (const auto partial = writer_.partial_delta()) {
    *hello.mutable_partial_delta() = *partial;
  }
  hello.set_schema_level(kSchemaLevel);
  hello.set_version(options_.version);
  if (vanishing_) {
    *hello.mutable_vanishing() = *vanishing_;
  }
  for (const v1::RecordResult& result : writer_.quarantine()) {
    *hello.add_quarantine() = result;
  }
  return hello;
}

void FeedApplier::OnStreamLost() {
  welcome_.Clear();
  in_snapshot_ = false;
  notes_.Clear();
  Abandon();
}

void FeedApplier::Abandon() {
  transaction_.reset();
  next_index_ = 0;
  bytes_ = 0;
  quarantined_.clear();
  changed_.clear();
  all_changed_ = false;
}

ApplyOutcome FeedApplier::OnControlMessage(const v1::ControlMessage& message) {
  ApplyOutcome outcome;
  absl::Status status;
  if (message.has_welcome()) {
    status = OnWelcome(message.welcome());
  } else if (message.has_batch()) {
    status = OnBatch(message.batch(), outcome);
  }
  if (!status.ok()) {
    Abandon();
    problem_ = std::string(status.message());
    outcome.close_stream = true;
    outcome.damaged = absl::IsDataLoss(status);
    log::Warn("agent", "change not applied", {{"err", problem_}});
  }
  outcome.position = writer_.position();
  outcome.problem = problem_;
  outcome.vanishing = vanishing_;
  return outcome;
}

absl::Status FeedApplier::OnWelcome(const v1::Welcome& welcome) {
  Abandon();
  in_snapshot_ = false;
  welcome_ = welcome;
  const v1::Position& held = writer_.position();
  if (welcome.mode() == v1::Welcome::DELTA && welcome.epoch() != held.epoch()) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "replica: control offers a delta of another history than the replica's");
  }
  return absl::OkStatus();
}

absl::Status FeedApplier::OnBatch(const v1::Batch& batch, ApplyOutcome& outcome) {
  if (welcome_.mode() == v1::Welcome::MODE_UNSPECIFIED) {
    return Error(absl::StatusCode::kFailedPrecondition, "replica: a batch came before a welcome");
  }
  return batch.has_range() ? OnSnapshotBatch(batch, outcome) : OnDeltaBatch(batch, outcome);
}

absl::Status FeedApplier::CheckDelta(const v1::Batch& batch) const {
  const v1::Position& held = writer_.position();
  const auto snapshot = writer_.unfinished_snapshot();
  if (snapshot) {
    if (!IsComplete(*snapshot) || snapshot->start().epoch() != batch.since().epoch() ||
        snapshot->start().revision() < batch.since().revision()) {
      return Error(absl::StatusCode::kFailedPrecondition,
                   "replica: a delta came in the middle of a snapshot");
    }
  } else if (batch.since().epoch() != held.epoch() || batch.since().revision() > held.revision()) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "replica: a delta since revision {} does not follow revision {}",
                 batch.since().revision(), held.revision());
  }
  const v1::Position seen =
      snapshot ? snapshot->seen() : writer_.partial_delta().value_or(v1::Position());
  if (batch.cut() && batch.position().revision() < seen.revision()) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "replica: control ends at revision {} what it sent up to revision {}",
                 batch.position().revision(), seen.revision());
  }
  if (batch.cut() && batch.position().epoch() == held.epoch() &&
      batch.position().revision() < held.revision()) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "replica: control offers revision {}, which is older than revision {} held here",
                 batch.position().revision(), held.revision());
  }
  return absl::OkStatus();
}

absl::Status FeedApplier::OnDeltaBatch(const v1::Batch& batch, ApplyOutcome& outcome) {
  if (batch.index() == 0) {
    // Also what an earlier delta left without its cut.
    Abandon();
    target_ = batch.position();
  } else if (IsSame(batch.position(), writer_.position()) ||
             (batch.index() < next_index_ && IsSame(batch.position(), target_))) {
    // Sent twice.
    return absl::OkStatus();
  } else if (batch.index() != next_index_ || !IsSame(batch.position(), target_)) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "replica: batch {} of a delta came when {} was due", batch.index(), next_index_);
  }
  absl::Status status = CheckDelta(batch);
  if (status.ok() && transaction_ == nullptr) {
    status = Begin();
  }
  if (status.ok()) {
    status = ApplyRecords(batch, false);
  }
  if (!status.ok()) {
    return status;
  }
  next_index_ = batch.index() + 1;
  if (batch.cut()) {
    return CommitDelta(batch, outcome);
  }
  if (bytes_ > options_.transaction_bytes_max) {
    bytes_ = 0;
    status = transaction_->SetPartialDelta(batch.position());
    return status.ok() ? Commit(outcome) : status;
  }
  return absl::OkStatus();
}

absl::Status FeedApplier::CommitDelta(const v1::Batch& batch, ApplyOutcome& outcome) {
  absl::Status status = transaction_->SetPosition(batch.position());
  if (writer_.unfinished_snapshot()) {
    all_changed_ = true;
    status.Update(transaction_->SetUnfinishedSnapshot(std::nullopt));
  }
  if (writer_.partial_delta()) {
    status.Update(transaction_->SetPartialDelta(std::nullopt));
  }
  if (status.ok()) {
    status = Commit(outcome);
  }
  if (status.ok()) {
    next_index_ = 0;
    bytes_ = 0;
    outcome.ack = notes_.Take(batch.position());
    vanishing_.reset();
  }
  return status;
}

absl::Status FeedApplier::OnSnapshotBatch(const v1::Batch& batch, ApplyOutcome& outcome) {
  Abandon();
  const v1::SnapshotRange& range = batch.range();
  const v1::Position& held = writer_.position();
  const auto done = writer_.unfinished_snapshot();
  const bool first = !in_snapshot_ && range.type() == kFirstType && range.after() == 0;
  if (in_snapshot_ && done && IsPast(*done, range)) {
    // Sent twice.
    return absl::OkStatus();
  }
  if (!first && !(done && Continues(*done, range))) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "replica: a snapshot's batch does not follow the one before");
  }
  if (range.start().epoch() == held.epoch() && range.start().revision() < held.revision()) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "replica: control offers revision {}, which is older than revision {} held here",
                 range.start().revision(), held.revision());
  }
  absl::Status status = Begin();
  if (status.ok() && first) {
    status = transaction_->ForgetVanishing();
  }
  if (status.ok()) {
    status = ApplyRecords(batch, true);
  }
  if (status.ok()) {
    status = RemoveGaps(batch);
  }
  if (status.ok()) {
    status = transaction_->SetUnfinishedSnapshot(range);
  }
  all_changed_ = true;
  in_snapshot_ = true;
  return status.ok() ? Commit(outcome) : status;
}

absl::Status FeedApplier::RemoveGaps(const v1::Batch& batch) {
  std::vector<std::int64_t> keep;
  for (const v1::Record& record : batch.records()) {
    keep.push_back(record.uid());
  }
  std::sort(keep.begin(), keep.end());
  for (const replica::Key& key : std::set(quarantined_)) {
    if (key.type == batch.range().type() && key.uid > batch.range().after() &&
        key.uid <= batch.range().through() &&
        !std::binary_search(keep.begin(), keep.end(), key.uid)) {
      if (const absl::Status status = Release(key); !status.ok()) {
        return status;
      }
    }
  }
  if (batch.range().type() != v1::SITE) {
    return transaction_->DeleteGaps(batch.range(), keep).status();
  }
  // Sites go all at once at the end of the type, when it is known how many they are.
  const absl::Status status = transaction_->NoteGaps(batch.range(), keep);
  return status.ok() && batch.range().through() == kLastUid ? RemoveVanishing() : status;
}

bool FeedApplier::IsAccepted(std::int64_t vanishing) const {
  const croft::v1::VanishingSites& accepted = welcome_.accepted_vanishing();
  return accepted.epoch() == welcome_.epoch() && accepted.sites() == vanishing;
}

absl::Status FeedApplier::RemoveVanishing() {
  const auto vanishing = transaction_->ListVanishing();
  const auto held = transaction_->Count(v1::SITE);
  if (!vanishing.ok() || !held.ok()) {
    return vanishing.ok() ? held.status() : vanishing.status();
  }
  const auto count = static_cast<std::int64_t>(vanishing->size());
  if (!welcome_.known_history() && count > options_.vanishing_sites_max &&
      count * 100 > *held * options_.vanishing_percent_max && !IsAccepted(count)) {
    vanishing_.emplace();
    vanishing_->set_epoch(welcome_.epoch());
    vanishing_->set_sites(count);
    vanishing_->set_held(*held);
    return Error(absl::StatusCode::kFailedPrecondition,
                 "replica: control's history is another one, and by it {} of {} sites would vanish "
                 "from this node; they go on being served",
                 count, *held);
  }
  vanishing_.reset();
  absl::Status status = transaction_->ForgetVanishing();
  for (const replica::Key& key : *vanishing) {
    v1::Record gone;
    gone.set_type(key.type);
    gone.set_uid(key.uid);
    gone.set_deleted(true);
    status.Update(transaction_->Apply(gone, true));
  }
  return status;
}

absl::Status FeedApplier::ApplyRecords(const v1::Batch& batch, bool force) {
  for (const v1::Record& record : batch.records()) {
    bytes_ += record.body().size();
    if (const absl::Status status = ApplyOne(record, force); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status FeedApplier::ApplyOne(const v1::Record& record, bool force) {
  const replica::Key key{record.type(), record.uid()};
  const bool quarantined = quarantined_.contains(key);
  if (!force && !quarantined && !record.deleted()) {
    const auto held = transaction_->Find(key);
    if (!held.ok()) {
      return held.status();
    }
    if (held->has_value() && (*held)->revision >= record.revision()) {
      return absl::OkStatus();
    }
  }
  if (auto fault = FindFault(record, options_.own_directory)) {
    return Refuse(record, *std::move(fault));
  }
  NoteChanged(key);
  if (quarantined) {
    if (const absl::Status status = Release(key); !status.ok()) {
      return status;
    }
  }
  // A last good version of another history may have a higher revision.
  return transaction_->Apply(record, force || quarantined);
}

absl::Status FeedApplier::Refuse(const v1::Record& record, std::string reason) {
  const replica::Key key{record.type(), record.uid()};
  v1::RecordResult result;
  result.set_type(record.type());
  result.set_uid(record.uid());
  result.set_revision(record.revision());
  result.set_reason(std::move(reason));
  notes_.Refused(result);
  quarantined_.insert(key);
  if (const absl::Status status = transaction_->SetQuarantine(result); !status.ok()) {
    return status;
  }
  const auto held = transaction_->Find(key);
  if (!held.ok() || !held->has_value()) {
    return held.status();
  }
  // The last good version keeps its own revision, so that what it claims yields to any later claim;
  // one that another history left here has no revision in this one.
  replica::Writer::Held last_good = **held;
  const bool foreign = last_good.revision >= record.revision();
  if (foreign) {
    last_good.revision = 0;
  }
  auto stopped = StoppedBody(record, last_good.body);
  if (!stopped && !foreign) {
    return absl::OkStatus();
  }
  if (stopped) {
    last_good.body = *std::move(stopped);
    NoteChanged(key);
  }
  return transaction_->ReplaceHeld(key, last_good);
}

absl::Status FeedApplier::Release(replica::Key key) {
  quarantined_.erase(key);
  notes_.Released(key);
  return transaction_->ClearQuarantine(key);
}

absl::Status FeedApplier::Begin() {
  auto transaction = writer_.Begin();
  if (!transaction.ok()) {
    return transaction.status();
  }
  transaction_ = *std::move(transaction);
  quarantined_.clear();
  for (const v1::RecordResult& result : writer_.quarantine()) {
    quarantined_.insert(replica::Key{result.type(), result.uid()});
  }
  return absl::OkStatus();
}

absl::Status FeedApplier::Commit(ApplyOutcome& outcome) {
  const auto transaction = std::exchange(transaction_, nullptr);
  if (const absl::Status status = transaction->Commit(); !status.ok()) {
    return status;
  }
  problem_.clear();
  outcome.committed = true;
  outcome.all = all_changed_;
  for (const replica::Key& key : changed_) {
    outcome.changed.push_back(ToProto(key));
  }
  changed_.clear();
  all_changed_ = false;
  return absl::OkStatus();
}

void FeedApplier::NoteChanged(replica::Key key) {
  if (changed_.size() >= kChangedMax) {
    all_changed_ = true;
  }
  if (all_changed_) {
    changed_.clear();
  } else {
    changed_.push_back(key);
  }
}

}  // namespace croft::node::agent
