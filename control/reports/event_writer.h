// Takes the events nodes report and writes them to the store in batches, on a thread of its own.
// The queue is bounded: events past it are dropped and counted, since a node in trouble may send
// any number. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "control/reports/counter_book.h"
#include "control/reports/instance_names.h"
#include "control/store/store.h"
#include "croft/node/v1/feed.pb.h"

namespace croft::control::reports {

inline constexpr std::size_t kEventsQueuedMax = 4096;
inline constexpr std::size_t kEventsPerBatch = 256;

class EventWriter {
 public:
  EventWriter(store::Store& store, InstanceNames& names);
  // Writes what is queued, if the store is there.
  ~EventWriter();

  // Never blocks on the store.
  void PushOrDrop(const Reporter& node, const node::v1::EventReport& event);
  std::uint64_t dropped();

 private:
  struct Queued {
    Reporter node;
    node::v1::EventReport event;
  };

  void Run(const std::stop_token& stop);
  std::vector<Queued> TakeBatch(const std::stop_token& stop);
  void Write(const std::vector<Queued>& batch, const std::stop_token& stop);
  v1::Event MakeEvent(const Queued& queued);

  store::Store& store_;
  InstanceNames& names_;

  std::mutex mutex_;  // protects the two below
  std::deque<Queued> queue_;
  std::uint64_t dropped_ = 0;
  std::condition_variable_any filled_;

  std::jthread thread_;  // last: it uses all above
};

}  // namespace croft::control::reports
