// The counters of the catalogue as metrics: names by Prometheus' conventions, base units, one
// metric with a label where the catalogue has several counters of one kind. Control and agents use
// the same names. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "proto/contract/counters.h"
#include "proto/metrics/metrics_page.h"

namespace croft::metrics {

enum class Scope {
  kSum,  // of all instances on a node: croft_requests_total{node="web1"}
  kOne,  // of one instance: croft_site_requests_total{site="shop"}
};

// `values` in the order of the type's catalogue; too short ones count as 0.
void AddCounters(contract::counters::InstanceType type, Scope scope,
                 std::span<const std::int64_t> values, const Labels& labels, MetricsPage& page);

}  // namespace croft::metrics
