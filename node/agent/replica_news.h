// What changed in the replica up to a position, for those who cache it. Merging keeps a bounded set
// of keys, then says "everything".
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "croft/node/v1/feed.pb.h"

namespace croft::node::agent {

struct ReplicaNews {
  // As many as fit one message to the listener.
  static constexpr std::size_t kKeysMax = 4000;

  v1::Position position;
  std::vector<v1::RecordKey> keys;
  bool all = false;

  // Takes in what came after.
  void Merge(ReplicaNews later) {
    position = later.position;
    all = all || later.all || keys.size() + later.keys.size() > kKeysMax;
    if (all) {
      keys.clear();
    } else {
      keys.insert(keys.end(), later.keys.begin(), later.keys.end());
    }
  }
};

}  // namespace croft::node::agent
