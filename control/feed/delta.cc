#include "control/feed/delta.h"

namespace croft::control::feed {
namespace {

// What a batch has besides its records, generously.
constexpr std::size_t kBatchHeadBytes = 512;
// A record's tag and length.
constexpr std::size_t kRecordHeadBytes = 8;

std::size_t SizeOf(const node::v1::Record& record) {
  return record.ByteSizeLong() + kRecordHeadBytes;
}

bool Fits(std::size_t batch_bytes, std::size_t record_bytes, const FeedOptions& options) {
  return batch_bytes == 0 ||
         batch_bytes + record_bytes + kBatchHeadBytes <= options.batch_bytes_max;
}

}  // namespace

bool SamePosition(const node::v1::Position& a, const node::v1::Position& b) {
  return a.epoch() == b.epoch() && a.revision() == b.revision() && a.tag() == b.tag();
}

Message Serialize(const node::v1::ControlMessage& message) {
  return std::make_shared<const std::string>(message.SerializeAsString());
}

void DeltaBuilder::Add(node::v1::Record record, bool bounded) {
  const std::size_t size = SizeOf(record);
  bytes_ += size;
  too_large_ = bounded && bytes_ > options_.delta_bytes_max;
  if (too_large_) {
    batches_.clear();
    return;
  }
  if (batches_.empty() || !Fits(batch_bytes_, size, options_)) {
    batches_.emplace_back();
    batch_bytes_ = 0;
  }
  batch_bytes_ += size;
  *batches_.back().mutable_batch()->add_records() = std::move(record);
}

std::shared_ptr<const Delta> DeltaBuilder::Finish(const node::v1::Position& to) {
  auto delta = std::make_shared<Delta>();
  delta->from = from_;
  delta->to = to;
  if (batches_.empty()) {
    batches_.emplace_back();
  }
  for (std::size_t i = 0; i < batches_.size(); ++i) {
    node::v1::Batch& batch = *batches_[i].mutable_batch();
    *batch.mutable_since() = from_;
    *batch.mutable_position() = to;
    batch.set_index(static_cast<int>(i));
    batch.set_cut(i + 1 == batches_.size());
    delta->messages.push_back(Serialize(batches_[i]));
    delta->bytes += delta->messages.back()->size();
    batches_[i].Clear();
  }
  batches_.clear();
  return delta;
}

std::vector<Message> BuildRangeBatches(const node::v1::SnapshotRange& range,
                                       std::vector<node::v1::Record> records,
                                       const FeedOptions& options) {
  std::vector<Message> messages;
  node::v1::SnapshotRange part = range;
  node::v1::ControlMessage message;
  std::size_t batch_bytes = 0;
  const auto finish = [&](std::int64_t through) {
    part.set_through(through);
    *message.mutable_batch()->mutable_range() = part;
    messages.push_back(Serialize(message));
    message.Clear();
    batch_bytes = 0;
    part.set_after(through);
  };
  std::int64_t last = range.after();
  for (node::v1::Record& record : records) {
    const std::size_t size = SizeOf(record);
    if (!Fits(batch_bytes, size, options)) {
      finish(last);
    }
    batch_bytes += size;
    last = record.uid();
    *message.mutable_batch()->add_records() = std::move(record);
  }
  finish(range.through());
  return messages;
}

}  // namespace croft::control::feed
