// What all loops share about a pool and its workers: numbers that are read and changed without a
// lock. The agent's word arrives through Apply.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "croft/node/v1/channel.pb.h"
#include "node/counters/counter_memory.h"

namespace croft::node::listener {

struct WorkerState {
  WorkerState(const v1::PoolWorker& worker)
      : process_id(worker.process_id()), socket_path(worker.socket_path()), uid(worker.uid()) {}

  const std::uint64_t process_id;
  const std::string socket_path;
  const uid_t uid;
  // Streams of all loops; a loop takes a place before it submits.
  std::atomic<std::int64_t> in_flight{0};
  std::atomic<bool> draining{false};
  // Loops that know of the draining and start nothing more.
  std::atomic<unsigned> loops_stopped{0};
  std::atomic<bool> drained_told{false};
};

using WorkerStates = std::vector<std::shared_ptr<WorkerState>>;

class PoolState {
 public:
  PoolState(std::int64_t uid, unsigned loops, counters::Row row);

  const std::int64_t uid;
  const counters::Row row;

  std::atomic<bool> started{true};
  std::atomic<bool> removed{false};
  std::atomic<std::int64_t> queue_length{1000};
  std::atomic<std::int64_t> max_concurrent{256};
  // Waiting in all loops; each loop's own share beside it, so that a place freed on one loop can
  // wake another.
  std::atomic<std::int64_t> queued{0};
  std::vector<std::atomic<std::int64_t>> queued_by_loop;
  // StartPool was sent since the last PoolUpdate.
  std::atomic<bool> start_asked{false};

  // One place in the queue, or false when it is full.
  bool TakeQueuePlace(unsigned loop);
  void LeaveQueue(unsigned loop);
  // One place at the worker, or false.
  bool TakeWorkerPlace(WorkerState& worker) const;
};

// Every pool that was heard of. Thread-safe.
class PoolDirectory {
 public:
  PoolDirectory(unsigned loops, counters::CounterMemory& counters)
      : loops_(loops), counters_(counters) {}

  // Made with defaults when the agent has not spoken of it yet.
  std::shared_ptr<PoolState> Get(std::int64_t uid);
  // Takes over the agent's word and returns the workers, those already known as the same objects.
  WorkerStates Apply(const v1::PoolUpdate& update);
  // For a loop that meets the pool later.
  WorkerStates Workers(std::int64_t uid);

 private:
  struct Entry {
    std::shared_ptr<PoolState> state;
    WorkerStates workers;
  };
  Entry& Find(std::int64_t uid);

  const unsigned loops_;
  counters::CounterMemory& counters_;
  std::mutex mutex_;
  std::unordered_map<std::int64_t, Entry> entries_;
};

}  // namespace croft::node::listener
