// A snapshot on its way to one node: reads the store type by type in key order, in short
// transactions, a little ahead of the stream. Feed thread only.
#pragma once

#include <absl/status/status.h>

#include <deque>
#include <optional>

#include "control/feed/delta.h"
#include "control/store/store.h"

namespace croft::control::feed {

class SnapshotSource {
 public:
  // From the beginning, or after what the node already has of one that began at `start`.
  SnapshotSource(std::int64_t farm_uid, const FeedOptions& options, const node::v1::Position& start,
                 const std::optional<node::v1::SnapshotRange>& resume);

  // Reads on until enough is ready. aborted: the store's history is no longer the one the snapshot
  // began in; begin another.
  absl::Status Fill(store::Store& store);
  // Null if nothing is ready.
  Message Take();
  // Everything was taken; the delta from start() ends the snapshot.
  bool finished() const { return all_read_ && ready_.empty(); }
  bool ready() const { return !ready_.empty(); }
  const node::v1::Position& start() const { return next_.start(); }

 private:
  absl::Status ReadChunk(store::Store& store);

  const std::int64_t farm_uid_;
  const FeedOptions& options_;
  // type and after of the next chunk; start and seen.
  node::v1::SnapshotRange next_;
  std::deque<Message> ready_;
  bool all_read_ = false;
};

}  // namespace croft::control::feed
