#include "node/agent/feed_order.h"

namespace croft::node::agent {

bool IsSame(const v1::Position& a, const v1::Position& b) {
  return a.epoch() == b.epoch() && a.revision() == b.revision() && a.tag() == b.tag();
}

bool Continues(const v1::SnapshotRange& done, const v1::SnapshotRange& range) {
  if (!IsSame(done.start(), range.start())) {
    return false;
  }
  if (done.through() == kLastUid) {
    return range.type() == done.type() + 1 && range.after() == 0;
  }
  return range.type() == done.type() && range.after() == done.through();
}

bool IsPast(const v1::SnapshotRange& done, const v1::SnapshotRange& range) {
  return IsSame(done.start(), range.start()) &&
         (range.type() < done.type() ||
          (range.type() == done.type() && range.through() <= done.through()));
}

bool IsComplete(const v1::SnapshotRange& done) {
  return done.type() == kLastType && done.through() == kLastUid;
}

}  // namespace croft::node::agent
