// Imports as streams: each message is a batch and a change, answered once it is
// committed.
#pragma once

#include "control/api/stream_methods.h"
#include "control/domain/resources.h"

namespace croft::control::api {

// Store and `resources` must outlive the table.
void AddImports(store::Store& store, domain::Resources& resources, StreamMethods& streams);

}  // namespace croft::control::api
