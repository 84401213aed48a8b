// One seeded run: a store, the feed and a farm's nodes in one thread, on a clock that only the run
// moves. Operators change the estate while streams break, messages are lost and repeated, nodes
// restart, history is compacted and the database fails over to older copies. When that is over,
// every replica must equal what the store has, and so must a fresh one.
#pragma once

#include <cstdint>
#include <string>

namespace croft::simulation {

// Empty, or what went wrong. `scratch` is a directory for replicas.
std::string RunFeedSimulation(std::uint64_t seed, const std::string& scratch);

}  // namespace croft::simulation
