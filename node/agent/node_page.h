// What a node's agent tells Prometheus: the sums over all of the node's processes, ended ones
// included, the sites and pools with most requests, and how the agent itself is. Supervision loop
// only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "node/agent/counter_collector.h"
#include "node/replica/reader.h"

namespace croft::node::agent {

struct NodePage {
  const CounterCollector& counters;
  const replica::Reader* reader = nullptr;  // for names; null: uids stand for them
  std::string node;                         // its name; "" before it is enrolled
  bool connected = false;                   // to control
  std::int64_t applied_revision = 0, serving_revision = 0;
  bool problem = false;
};

// Sites, and pools, with metrics of their own.
inline constexpr std::size_t kBusiestMax = 50;

std::string MakeNodePage(const NodePage& page);

}  // namespace croft::node::agent
