// The counters a node counts by their names in this folder; the one list is
// proto/contract/counters.h, which control reads too.
#pragma once

#include "proto/contract/counters.h"

namespace croft::node::counters {

using contract::counters::Catalogue;
using contract::counters::CounterFacts;
using contract::counters::InstanceType;
using contract::counters::kCountersMax;
using contract::counters::NameOf;
using contract::counters::NodeCounter;
using contract::counters::PoolCounter;
using contract::counters::SiteCounter;
using contract::counters::StoreCounter;
using contract::counters::WorkerCounter;

}  // namespace croft::node::counters
