// The listener's loops and what they share, as one thing the control link speaks to. The control
// link's thread only, but for what the callbacks say.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "croft/node/v1/channel.pb.h"
#include "node/counters/counter_memory.h"
#include "node/listener/loop.h"
#include "node/listener/shared.h"
#include "proto/base/unique_fd.h"

namespace croft::node::listener {

class LoopSet {
 public:
  struct Dependencies {
    counters::CounterMemory& counters;
    Outbox& outbox;
    uid_t launcher_uid = 0;
  };

  // Opens the replica and the logs and starts the threads.
  static absl::StatusOr<std::unique_ptr<LoopSet>> Start(const v1::ListenerSetup& setup,
                                                        const Dependencies& dependencies);
  // Stops at once.
  ~LoopSet();
  LoopSet(const LoopSet&) = delete;
  LoopSet& operator=(const LoopSet&) = delete;

  // Usually one socket per loop; more are spread, fewer leave loops without. Said again, it changes
  // nothing.
  absl::Status AddEndpoint(const v1::EndpointSockets& endpoint, std::vector<UniqueFd> sockets);
  // ReplicaServed goes into the outbox when the last loop has dropped the keys.
  absl::Status OnReplicaChanged(const v1::ReplicaChanged& change);
  void OnPool(const v1::PoolUpdate& update);
  void SetDraining(bool draining) { shared_.draining = draining; }
  void ReopenLogs() { logs_.Reopen(); }
  // Takes no more connections; returns when requests are finished or `limit` has passed.
  void Close(std::chrono::milliseconds limit);

 private:
  struct Key {};

 public:
  // For Start.
  LoopSet(Key, const v1::ListenerSetup& setup, const Dependencies& dependencies,
          const std::shared_ptr<const replica::Reader>& reader);

 private:
  LogWriter logs_;
  Shared shared_;
  std::vector<std::unique_ptr<Loop>> loops_;
  std::vector<std::thread> threads_;
  std::set<std::pair<std::string, std::uint16_t>> endpoints_;  // listened on

  std::mutex mutex_;
  std::condition_variable finished_;
  unsigned running_ = 0;  // loops; guarded by mutex_
};

}  // namespace croft::node::listener
