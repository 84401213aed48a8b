// What every handler may use besides the request: its event loop's waits, the clock, the worker's
// counters. One per event loop.
#pragma once

#include "node/counters/counter_memory.h"
#include "node/worker/store/store_waits.h"
#include "proto/base/clock.h"

namespace croft::node::worker::handlers {

struct Context {
  store::StoreWaits& waits;
  const Clock& clock;
  counters::Row counters;
};

}  // namespace croft::node::worker::handlers
