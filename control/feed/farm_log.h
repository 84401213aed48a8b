// The recent deltas of one farm, end to end: what its synced nodes are fed from. Feed thread only.
#pragma once

#include <deque>
#include <memory>

#include "control/feed/delta.h"

namespace croft::control::feed {

class FarmLog {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{32} << 20;
  static constexpr std::size_t kDeltasMax = 256;

  bool started() const { return started_; }
  const node::v1::Position& head() const { return head_; }

  // Forgets everything; the log continues from `head`.
  void Start(const node::v1::Position& head);
  // REQUIRES: delta->from is the head. Drops the oldest beyond the limits.
  void Append(std::shared_ptr<const Delta> delta);
  // The delta that brings a node at `revision` further: it may repeat what the node has. Null: the
  // log does not reach back so far, or no further.
  std::shared_ptr<const Delta> FindAfter(std::int64_t revision) const;

 private:
  bool started_ = false;
  node::v1::Position head_;
  std::deque<std::shared_ptr<const Delta>> deltas_;
  std::size_t bytes_ = 0;
};

}  // namespace croft::control::feed
