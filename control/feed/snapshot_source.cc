#include "control/feed/snapshot_source.h"

#include <algorithm>
#include <limits>

#include "proto/base/error.h"

namespace croft::control::feed {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kReadyMin = 2;

// About a batch: accounts are small and many.
int ChunkRecords(node::v1::RecordType type) { return type == node::v1::ACCOUNT ? 6000 : 1000; }

}  // namespace

SnapshotSource::SnapshotSource(std::int64_t farm_uid, const FeedOptions& options,
                               const node::v1::Position& start,
                               const std::optional<node::v1::SnapshotRange>& resume)
    : farm_uid_(farm_uid), options_(options) {
  *next_.mutable_start() = start;
  *next_.mutable_seen() = start;
  next_.set_type(node::v1::PLATFORM);
  if (!resume) {
    return;
  }
  next_ = *resume;
  next_.set_after(resume->through());
  if (resume->through() == kEnd) {
    all_read_ = resume->type() == node::v1::ACCOUNT;
    next_.set_type(static_cast<node::v1::RecordType>(resume->type() + 1));
    next_.set_after(0);
  }
}

absl::Status SnapshotSource::Fill(store::Store& store) {
  while (!all_read_ && ready_.size() < kReadyMin) {
    if (const absl::Status status = ReadChunk(store); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status SnapshotSource::ReadChunk(store::Store& store) {
  const int limit = std::min(ChunkRecords(next_.type()), options_.chunk_records_max);
  auto records = store.ReadSnapshotChunk(farm_uid_, next_.type(), next_.after(), limit);
  if (!records.ok()) {
    return records.status();
  }
  const auto head = store.GetHead();
  if (!head.ok()) {
    return head.status();
  }
  if (!SamePosition(head->position, next_.seen())) {
    const auto known = store.KnowsPosition(next_.seen());
    if (!known.ok() || !*known) {
      return known.ok() ? Error(absl::StatusCode::kAborted, "the database's history changed")
                        : known.status();
    }
    *next_.mutable_seen() = head->position;
  }
  const bool ends_type = static_cast<int>(records->size()) < limit;
  next_.set_through(ends_type ? kEnd : records->back().uid());
  for (Message& message : BuildRangeBatches(next_, *std::move(records), options_)) {
    ready_.push_back(std::move(message));
  }
  next_.set_after(ends_type ? 0 : next_.through());
  if (ends_type && next_.type() == node::v1::ACCOUNT) {
    all_read_ = true;
  } else if (ends_type) {
    next_.set_type(static_cast<node::v1::RecordType>(next_.type() + 1));
  }
  return absl::OkStatus();
}

Message SnapshotSource::Take() {
  if (ready_.empty()) {
    return nullptr;
  }
  Message message = std::move(ready_.front());
  ready_.pop_front();
  return message;
}

}  // namespace croft::control::feed
