// ResourceService.ApplyResources, served by domain::Apply.
#pragma once

#include "control/api/methods.h"
#include "control/domain/resources.h"

namespace croft::control::api {

// Store and access must outlive the table.
void AddApplyResources(store::Store& store, domain::Access& access, Methods& methods);

}  // namespace croft::control::api
