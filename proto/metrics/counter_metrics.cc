#include "proto/metrics/counter_metrics.h"

#include <array>
#include <string>
#include <string_view>

namespace croft::metrics {
namespace {

using contract::counters::InstanceType;

struct Metric {
  std::string_view name;  // without its prefix
  std::string_view help;
  std::string_view label = {};
  std::string_view label_value = {};
  double unit = 1;  // of the counter, in the metric's
};

constexpr double kMicros = 1e-6;

// In the order of the catalogue.
constexpr Metric kNode[] = {
    {"connections_total", "Connections accepted from visitors."},
    {"open_connections", "Connections of visitors that are open."},
    {"requests_total", "Requests whose header was read, whatever the answer."},
    {"sent_bytes_total", "Bytes sent to visitors, headers included."},
    {"received_bytes_total", "Bytes received from visitors, headers included."},
    {"refused_requests_total", "Requests that no site answered.", "reason", "no_site"},
    {"refused_requests_total", "Requests that no site answered.", "reason", "bad_request"},
    {"log_lines_total", "Lines written to the request log."},
    {"log_lines_dropped_total", "Lines not written because the request log's queue was full."},
};
constexpr Metric kSite[] = {
    {"requests_total", "Requests answered, by a worker or by the listener itself."},
    {"requests_by_method_total", "Requests answered, by method.", "method", "GET"},
    {"requests_by_method_total", "Requests answered, by method.", "method", "HEAD"},
    {"requests_by_method_total", "Requests answered, by method.", "method", "POST"},
    {"requests_by_method_total", "Requests answered, by method.", "method", "other"},
    {"responses_total", "Answers, by class of their status.", "code", "2xx"},
    {"responses_total", "Answers, by class of their status.", "code", "3xx"},
    {"responses_total", "Answers, by class of their status.", "code", "4xx"},
    {"responses_total", "Answers, by class of their status.", "code", "5xx"},
    {"not_found_responses_total", "Answers with status 404."},
    {"sent_bytes_total", "Bytes sent to visitors of sites, headers included."},
    {"received_bytes_total", "Bytes received from visitors of sites, headers included."},
    {"active_requests", "Requests that are being answered."},
    {"service_time_seconds_total",
     "From the first byte of requests to the last of their answers; by requests_total, the mean.",
     "", "", kMicros},
};
constexpr Metric kPool[] = {
    {"requests_total", "Requests handed to workers."},
    {"active_requests", "Requests that workers have."},
    {"queued_requests", "Requests that wait for a worker."},
    {"queue_wait_seconds_total", "Time requests waited for a worker; by requests_total, the mean.",
     "", "", kMicros},
    {"errors_total", "Requests that failed before or in a worker.", "reason", "queue_full"},
    {"errors_total", "Requests that failed before or in a worker.", "reason", "pool_stopped"},
    {"errors_total", "Requests that failed before or in a worker.", "reason", "queue_timeout"},
    {"errors_total", "Requests that failed before or in a worker.", "reason", "worker_lost"},
    {"retried_requests_total", "Requests repeated once on another worker."},
    {"errors_total", "Requests that failed before or in a worker.", "reason", "url_refused"},
    {"workers", "Workers that run."},
    {"workers_started_total", "Workers started."},
    {"worker_failures_total", "Workers that did not do as they should.", "kind", "crashed"},
    {"worker_failures_total", "Workers that did not do as they should.", "kind", "ping"},
    {"worker_failures_total", "Workers that did not do as they should.", "kind", "startup"},
    {"worker_failures_total", "Workers that did not do as they should.", "kind", "shutdown"},
};
constexpr Metric kWorker[] = {
    {"requests_total", "Requests workers answered."},
    {"active_requests", "Requests workers are answering."},
    {"sent_bytes_total", "Bytes of bodies workers sent to listeners."},
    {"files_sent_total", "Requests answered with a file's content."},
    {"not_found_responses_total", "Answers of workers with status 404."},
    {"not_modified_responses_total", "Answers of workers with status 304."},
    {"range_responses_total", "Answers of workers with status 206."},
    {"connections_total", "Connections workers accepted from listeners."},
    {"reads_total", "Reads of files.", "where", "inline"},
    {"reads_total", "Reads of files.", "where", "thread"},
};
constexpr Metric kStore[] = {
    {"opens_total", "Files opened."},
    {"reads_total", "Read operations."},
    {"read_bytes_total", "Bytes read."},
    {"errors_total", "Operations that failed with an error of the file system."},
    {"busy_total", "Requests answered 503 because all threads of a store were taken."},
    {"busy_threads", "Threads that are in an operation."},
};
static_assert(std::size(kNode) == std::size(contract::counters::kNodeCounters));
static_assert(std::size(kSite) == std::size(contract::counters::kSiteCounters));
static_assert(std::size(kPool) == std::size(contract::counters::kPoolCounters));
static_assert(std::size(kWorker) == std::size(contract::counters::kWorkerCounters));
static_assert(std::size(kStore) == std::size(contract::counters::kStoreCounters));

struct Kind {
  std::span<const Metric> metrics;
  std::string_view sum;
  std::string_view one;
};

Kind KindOf(InstanceType type) {
  switch (type) {
    case InstanceType::kNode:
      return {kNode, "croft_node_", "croft_node_"};
    case InstanceType::kSite:
      return {kSite, "croft_", "croft_site_"};
    case InstanceType::kPool:
      return {kPool, "croft_pools_", "croft_pool_"};
    case InstanceType::kWorker:
      return {kWorker, "croft_workers_", "croft_worker_"};
    case InstanceType::kStore:
      return {kStore, "croft_stores_", "croft_store_"};
  }
  return {};
}

}  // namespace

void AddCounters(InstanceType type, Scope scope, std::span<const std::int64_t> values,
                 const Labels& labels, MetricsPage& page) {
  const Kind kind = KindOf(type);
  const auto facts = contract::counters::Catalogue(type);
  for (std::size_t i = 0; i < kind.metrics.size(); ++i) {
    const Metric& metric = kind.metrics[i];
    const std::string name =
        std::string(scope == Scope::kSum ? kind.sum : kind.one) + std::string(metric.name);
    Labels all = labels;
    if (!metric.label.empty()) {
      all.emplace_back(metric.label, metric.label_value);
    }
    const double value = i < values.size() ? static_cast<double>(values[i]) * metric.unit : 0;
    if (facts[i].gauge) {
      page.AddGauge(name, metric.help, all, value);
    } else {
      page.AddCounter(name, metric.help, all, value);
    }
  }
}

}  // namespace croft::metrics
