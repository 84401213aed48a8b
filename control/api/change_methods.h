// The audit trail: changes, what became of a resource, undoing a change, and waiting until nodes
// have one.
#pragma once

#include "control/api/methods.h"
#include "control/domain/access.h"
#include "control/feed/feed.h"
#include "control/store/store.h"

namespace croft::control::api {

// All outlive the table.
void AddChangeMethods(store::Store& store, domain::Access& access, feed::Feed& feed,
                      Methods& methods);

}  // namespace croft::control::api
