// Descriptors that the launcher leaves open for a process it starts, by fixed number.
#pragma once

namespace croft::node::link {

inline constexpr int kControlChannelFd =
    3;  // agent: the launcher's channel; listener and worker: the agent's
inline constexpr int kCounterMemoryFd = 4;  // listener and worker: memfd of node/counters
inline constexpr int kWorkerSocketFd =
    5;  // worker: listening unix socket for the listener's connections

}  // namespace croft::node::link
