// Every counter of a node, by instance type; node/counters/counters.md says what each means. Values
// are cumulative unless the table says gauge. Numbers are part of the contract between versions:
// add at the end, never renumber. Nodes count by it, control names by it.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

namespace croft::contract::counters {

enum class InstanceType : std::uint32_t {
  kNode = 1,
  kSite = 2,
  kPool = 3,
  kWorker = 4,
  kStore = 5
};

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
  kRequestsActive,  // gauge
  kRequestsQueued,  // gauge
  kQueueWaitMicrosTotal,
  kRejectedQueueFullTotal,
  kRejectedStoppedTotal,
  kQueueTimeoutTotal,
  kLostWorkerTotal,
  kRetriedTotal,
  kUrlRefusedTotal,
  kWorkers,  // gauge; it and the rest are written by the agent
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
  kBusyTotal,    // 503 because all of the store's threads were taken
  kThreadsBusy,  // gauge
  kCount
};

struct CounterFacts {
  std::string_view name;  // "requests_total"
  bool gauge;
  std::string_view unit;  // "requests", "bytes", "microseconds"
};

inline constexpr std::size_t kCountersMax = 24;  // slots of a row, with room to grow

inline constexpr CounterFacts kNodeCounters[] = {
    {"connections_total", false, "connections"}, {"connections", true, "connections"},
    {"requests_total", false, "requests"},       {"bytes_sent_total", false, "bytes"},
    {"bytes_received_total", false, "bytes"},    {"no_site_total", false, "requests"},
    {"bad_requests_total", false, "requests"},   {"log_lines_total", false, "lines"},
    {"log_lines_dropped_total", false, "lines"},
};
inline constexpr CounterFacts kSiteCounters[] = {
    {"requests_total", false, "requests"},     {"get_total", false, "requests"},
    {"head_total", false, "requests"},         {"post_total", false, "requests"},
    {"other_method_total", false, "requests"}, {"status_2xx_total", false, "requests"},
    {"status_3xx_total", false, "requests"},   {"status_4xx_total", false, "requests"},
    {"status_5xx_total", false, "requests"},   {"not_found_total", false, "requests"},
    {"bytes_sent_total", false, "bytes"},      {"bytes_received_total", false, "bytes"},
    {"requests_active", true, "requests"},     {"service_time_micros_total", false, "microseconds"},
};
inline constexpr CounterFacts kPoolCounters[] = {
    {"requests_total", false, "requests"},
    {"requests_active", true, "requests"},
    {"requests_queued", true, "requests"},
    {"queue_wait_micros_total", false, "microseconds"},
    {"rejected_queue_full_total", false, "requests"},
    {"rejected_stopped_total", false, "requests"},
    {"queue_timeout_total", false, "requests"},
    {"lost_worker_total", false, "requests"},
    {"retried_total", false, "requests"},
    {"url_refused_total", false, "requests"},
    {"workers", true, "workers"},
    {"workers_started_total", false, "workers"},
    {"worker_failures_total", false, "workers"},
    {"ping_failures_total", false, "workers"},
    {"startup_failures_total", false, "workers"},
    {"shutdown_failures_total", false, "workers"},
};
inline constexpr CounterFacts kWorkerCounters[] = {
    {"requests_total", false, "requests"},  {"requests_active", true, "requests"},
    {"bytes_sent_total", false, "bytes"},   {"files_sent_total", false, "files"},
    {"not_found_total", false, "requests"}, {"not_modified_total", false, "requests"},
    {"ranges_total", false, "requests"},    {"connections_total", false, "connections"},
    {"inline_reads_total", false, "reads"}, {"thread_reads_total", false, "reads"},
};
inline constexpr CounterFacts kStoreCounters[] = {
    {"opens_total", false, "files"},      {"reads_total", false, "reads"},
    {"bytes_read_total", false, "bytes"}, {"errors_total", false, "operations"},
    {"busy_total", false, "requests"},    {"threads_busy", true, "threads"},
};
static_assert(std::size(kNodeCounters) == static_cast<std::size_t>(NodeCounter::kCount));
static_assert(std::size(kSiteCounters) == static_cast<std::size_t>(SiteCounter::kCount));
static_assert(std::size(kPoolCounters) == static_cast<std::size_t>(PoolCounter::kCount));
static_assert(std::size(kWorkerCounters) == static_cast<std::size_t>(WorkerCounter::kCount));
static_assert(std::size(kStoreCounters) == static_cast<std::size_t>(StoreCounter::kCount));

// Facts in enumeration order; empty for an unknown type.
constexpr std::span<const CounterFacts> Catalogue(InstanceType type) {
  switch (type) {
    case InstanceType::kNode:
      return kNodeCounters;
    case InstanceType::kSite:
      return kSiteCounters;
    case InstanceType::kPool:
      return kPoolCounters;
    case InstanceType::kWorker:
      return kWorkerCounters;
    case InstanceType::kStore:
      return kStoreCounters;
  }
  return {};
}

// "site"; empty for an unknown type.
constexpr std::string_view NameOf(InstanceType type) {
  constexpr std::array<std::string_view, 6> kNames = {"",     "node",   "site",
                                                      "pool", "worker", "store"};
  const auto number = static_cast<std::uint32_t>(type);
  return number < kNames.size() ? kNames[number] : std::string_view();
}

}  // namespace croft::contract::counters
