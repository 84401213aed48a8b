// What croft-control tells Prometheus: sums of each node that is connected here, the busiest sites
// and pools, how far every node is, and its own state. Made anew for each scrape; blocks on the
// store, and is made without it where it does not answer. Thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include "control/api/db_executor.h"
#include "control/reports/reports.h"
#include "control/store/store.h"
#include "proto/base/clock.h"

namespace croft::control::metrics {

struct Sources {
  store::Store& store;
  reports::Reports& reports;
  const api::DbExecutor& executor;
  const Clock& clock;
  std::size_t sites_max = 50;  // that have metrics of their own; as many pools
};

std::string MakeControlPage(const Sources& sources);

}  // namespace croft::control::metrics
