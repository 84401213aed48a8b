// ResourceService.WatchResources: a domain::ResourceWatch, turn by turn.
#pragma once

#include "control/api/stream_methods.h"
#include "control/domain/access.h"
#include "control/store/store.h"
#include "proto/base/clock.h"

namespace croft::control::api {

// All outlive the table.
void AddWatchResources(store::Store& store, domain::Access& access, const Clock& clock,
                       StreamMethods& streams);

}  // namespace croft::control::api
