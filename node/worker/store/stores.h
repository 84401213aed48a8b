// The stores that this process was asked for, by uid and path; each lives on, so that a hung one is
// not asked with fresh threads. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "node/counters/counter_memory.h"
#include "node/worker/store/store.h"
#include "proto/base/clock.h"
#include "proto/base/guarded.h"

namespace croft::node::worker::store {

class Stores {
 public:
  // Both outlive the process's threads; `counters` may be null.
  Stores(const Clock& clock, counters::CounterMemory* counters)
      : clock_(clock), counters_(counters) {}

  std::shared_ptr<Store> Get(std::int64_t uid, const std::string& path);

 private:
  using Key = std::pair<std::int64_t, std::string>;

  // Constant after construction.
  const Clock& clock_;
  counters::CounterMemory* const counters_;

  Guarded<std::map<Key, std::shared_ptr<Store>>> stores_;
};

}  // namespace croft::node::worker::store
