// Every counter of a node, by instance type; counters.md says what each means. Values are cumulative unless the table says gauge. Numbers are
// part of the contract between versions: add at the end, never renumber.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace croft::node::counters {

enum class InstanceType : std::uint32_t { kNode = 1, kSite = 2, kPool = 3, kWorker = 4, kStore = 5 };

enum class NodeCounter : std::uint32_t {
  kConnectionsTotal,
  kConnections,  // gauge
  kRequestsTotal,
  kBytesSentTotal,
  kBytesReceivedTotal,
  kNoSiteTotal,
  kBadRequestsTotal,
  kLogLinesTotal,
  kLogLinesDroppedTotal,
  kCount
};

enum class SiteCounter : std::uint32_t {
  kRequestsTotal,
  kGetTotal,
  kHeadTotal,
  kPostTotal,
  kOtherMethodTotal,
  kStatus2xxTotal,
  kStatus3xxTotal,
  kStatus4xxTotal,
  kStatus5xxTotal,
  kNotFoundTotal,
  kBytesSentTotal,
  kBytesReceivedTotal,
  kRequestsActive,  // gauge
  kServiceTimeMicrosTotal,
  kCount
};

enum class PoolCounter : std::uint32_t {
  kRequestsTotal,
  kRequestsActive,   // gauge
  kRequestsQueued,   // gauge
  kQueueWaitMicrosTotal,
  kRejectedQueueFullTotal,
  kRejectedStoppedTotal,
  kQueueTimeoutTotal,
  kLostWorkerTotal,
  kRetriedTotal,
  kUrlRefusedTotal,
  // Written by the agent:
  kWorkers,  // gauge
  kWorkersStartedTotal,
  kWorkerFailuresTotal,
  kPingFailuresTotal,
  kStartupFailuresTotal,
  kShutdownFailuresTotal,
  kCount
};

enum class WorkerCounter : std::uint32_t {
  kRequestsTotal,
  kRequestsActive,  // gauge
  kBytesSentTotal,
  kFilesSentTotal,
  kNotFoundTotal,
  kNotModifiedTotal,
  kRangesTotal,
  kConnectionsTotal,
  kInlineReadsTotal,
  kThreadReadsTotal,
  kCount
};

enum class StoreCounter : std::uint32_t {
  kOpensTotal,
  kReadsTotal,
  kBytesReadTotal,
  kErrorsTotal,
  kBusyTotal,         // 503 because all of the store's threads were taken
  kThreadsBusy,       // gauge
  kCount
};

struct CounterFacts {
  std::string_view name;  // "requests_total"
  bool gauge;
  std::string_view unit;  // "requests", "bytes", "microseconds"
};

inline constexpr std::size_t kCountersMax = 24;  // slots of a row, with room to grow

// Facts in enumeration order; empty for an unknown type.
std::span<const CounterFacts> Catalogue(InstanceType type);
std::string_view NameOf(InstanceType type);  // "site"

}  // namespace croft::node::counters
