// Streams changes to nodes: wakes on NOTIFY, asks the store what a farm's nodes lack, serialises a
// farm's batches once and hands the bytes to every stream. Keeps the three marks of each node and
// answers waits. Knows neither gRPC nor PostgreSQL.
#pragma once

#include <absl/status/status.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "control/store/store.h"
#include "croft/node/v1/feed.pb.h"
#include "croft/v1/change.pb.h"
#include "proto/base/clock.h"

namespace croft::control::feed {

inline constexpr std::size_t kBatchBytesMax = 1 << 20;

// One node's stream, as the feed sees it. Implemented by api/feed_stream and by the simulation.
class Transport {
 public:
  virtual ~Transport() = default;
  // Hands over one serialised node.v1.ControlMessage. At most one is outstanding: the feed calls
  // again only after Feed::OnSent.
  virtual void Send(std::shared_ptr<const std::string> message) = 0;
  // Ends the stream; Feed::OnClosed follows.
  virtual void Close(const absl::Status& status) = 0;
};

struct NodeIdentity {
  std::int64_t node_uid = 0;
  std::string node;  // name
  std::int64_t farm_uid = 0;
};

// Entry points are thread-safe and never block on the store: work is done by Step, which the feed's
// own thread calls in a loop (the simulation calls it directly).
class Feed {
 public:
  using SessionId = std::uint64_t;
  virtual ~Feed() = default;

  virtual SessionId OnOpened(const NodeIdentity& node, std::shared_ptr<Transport> transport) = 0;
  virtual void OnMessage(SessionId session, node::v1::NodeMessage message) = 0;
  virtual void OnSent(SessionId session) = 0;
  virtual void OnClosed(SessionId session) = 0;
  // Something was committed, here or on another instance.
  virtual void OnNotify() = 0;
  // Sends a quarantined record again, on an operator's word.
  virtual void RetryRecord(std::int64_t node_uid, node::v1::RecordKey key) = 0;

  // Calls `done` once, from any thread, when every node in service has reached the level, one
  // refused, or the timeout has passed.
  virtual void Wait(const v1::WaitForRevisionRequest& request, std::int64_t farm_uid,
                    std::function<void(v1::WaitForRevisionResponse)> done) = 0;

  // One round: reads what changed, feeds sessions, flushes marks (every 50 ms), answers waits.
  // Returns when to come back at the latest.
  virtual std::chrono::milliseconds Step() = 0;

  // Blocks until an entry point is called or the time has passed: what the feed's thread does
  // between two Steps.
  virtual void WaitForWork(std::chrono::milliseconds at_most) = 0;
};

struct FeedOptions {
  std::chrono::milliseconds marks_interval{50};
  std::chrono::milliseconds heartbeat_interval{5000};
  std::chrono::milliseconds report_interval{1000};
  int snapshots_at_once = 8;
  // Records read at once for a snapshot.
  int chunk_records_max = 6000;
  std::size_t batch_bytes_max = kBatchBytesMax;
  // A node that lacks more is sent a snapshot, which needs no memory here.
  std::size_t delta_bytes_max = std::size_t{128} << 20;
  // How long a deleted resource can be undeleted.
  std::chrono::milliseconds keep_deleted = store::kKeepDeleted;
};

// Whether a node's marks can be believed when they say that it is connected: its instance lives,
// but may hang.
bool IsConnected(const store::NodeMarks& marks, std::chrono::system_clock::time_point now,
                 std::chrono::milliseconds heartbeat_interval = FeedOptions().heartbeat_interval);

// `on_report` receives whatever nodes say, for the counters and events in it, and as a sign of life
// (reports/).
using ReportSink = std::function<void(const NodeIdentity&, const node::v1::NodeMessage&)>;
std::unique_ptr<Feed> MakeFeed(store::Store& store, const Clock& clock, const FeedOptions& options,
                               ReportSink on_report);

}  // namespace croft::control::feed
