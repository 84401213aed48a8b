#include "control/feed/farm_log.h"

#include <algorithm>

#include "proto/base/check.h"

namespace croft::control::feed {

void FarmLog::Start(const node::v1::Position& head) {
  started_ = true;
  head_ = head;
  deltas_.clear();
  bytes_ = 0;
}

void FarmLog::Append(std::shared_ptr<const Delta> delta) {
  Check(SamePosition(delta->from, head_), "a farm's log has a gap");
  head_ = delta->to;
  bytes_ += delta->bytes;
  deltas_.push_back(std::move(delta));
  while (deltas_.size() > 1 && (bytes_ > kBytesMax || deltas_.size() > kDeltasMax)) {
    bytes_ -= deltas_.front()->bytes;
    deltas_.pop_front();
  }
}

std::shared_ptr<const Delta> FarmLog::FindAfter(std::int64_t revision) const {
  const auto found = std::upper_bound(
      deltas_.begin(), deltas_.end(), revision,
      [](std::int64_t value, const auto& delta) { return value < delta->to.revision(); });
  if (found == deltas_.end() || (*found)->from.revision() > revision) {
    return nullptr;
  }
  return *found;
}

}  // namespace croft::control::feed
