// What the loops of one listener share: pools, the crash guard, counters, logs, the way to the
// agent. Everything in it is thread-safe or constant. Nothing else is shared but the replica.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "node/counters/counter_memory.h"
#include "node/listener/crash_guard.h"
#include "node/listener/log_writer.h"
#include "node/listener/outbox.h"
#include "node/listener/pool_state.h"
#include "node/listener/worker_connection.h"

namespace croft::node::listener {

struct Shared {
  const std::string node_name;
  const unsigned loops;
  const WorkerConnection::Peer peer;
  counters::CounterMemory& counters;
  const counters::Row node;
  Outbox& outbox;
  LogWriter& logs;
  PoolDirectory pools;
  CrashGuard guard;
  // The health URL answers 503.
  std::atomic<bool> draining{false};
  // Lets another loop look for a free place in a pool.
  std::function<void(unsigned loop, std::int64_t pool_uid)> wake_pool;
};

}  // namespace croft::node::listener
