// Batches as bytes, made once and handed to every stream that lacks them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "control/feed/feed.h"
#include "croft/node/v1/feed.pb.h"

namespace croft::control::feed {

// A serialised node.v1.ControlMessage.
using Message = std::shared_ptr<const std::string>;
using RecordId = std::pair<node::v1::RecordType, std::int64_t>;

bool SamePosition(const node::v1::Position& a, const node::v1::Position& b);
Message Serialize(const node::v1::ControlMessage& message);

// All changes of one farm after `from`, up to `to`. Immutable.
struct Delta {
  node::v1::Position from;
  node::v1::Position to;
  std::vector<Message> messages;
  std::size_t bytes = 0;
};

class DeltaBuilder {
 public:
  DeltaBuilder(node::v1::Position from, const FeedOptions& options)
      : from_(std::move(from)), options_(options) {}

  // Keeps nothing once a bounded one is larger than delta_bytes_max.
  void Add(node::v1::Record record, bool bounded);
  bool too_large() const { return too_large_; }
  // Marks the last batch as cut; there is always one.
  std::shared_ptr<const Delta> Finish(const node::v1::Position& to);

 private:
  const node::v1::Position from_;
  const FeedOptions& options_;
  std::vector<node::v1::ControlMessage> batches_;
  std::size_t batch_bytes_ = 0;
  std::size_t bytes_ = 0;
  bool too_large_ = false;
};

// Cuts records, ascending by uid, into a snapshot's batches. `range.through` is the end of the last
// one.
std::vector<Message> BuildRangeBatches(const node::v1::SnapshotRange& range,
                                       std::vector<node::v1::Record> records,
                                       const FeedOptions& options);

}  // namespace croft::control::feed
