// How far the feed is, and how far each node.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "croft/node/v1/feed.pb.h"
#include "croft/v1/node.pb.h"

namespace croft::control::store {

// What a farm's feed is at: the last revision that touched it or anything.
struct FeedHead {
  node::v1::Position position;
  std::int64_t compaction_floor = 0;  // a node below it needs a snapshot
};

// A node's marks as other instances see them.
struct NodeMarks {
  std::int64_t node_uid = 0;
  std::string node = {};  // name
  std::int64_t farm_uid = 0;
  std::int64_t sent_revision = 0, applied_revision = 0, serving_revision = 0;
  bool connected = false;  // when read: to an instance that lives
  bool ever_connected = false;
  bool draining = false;
  std::chrono::system_clock::time_point last_contact = {};
  std::string status =
      {};  // serialised croft.v1.NodeStatus: quarantine, problem, version, endpoints
  v1::VanishingSites accepted = {};  // see AcceptVanishing (read side)
};

}  // namespace croft::control::store
