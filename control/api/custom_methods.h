// The remaining methods with use cases of their own: explain a URL, reports.
#pragma once

#include "control/api/methods.h"
#include "control/domain/access.h"
#include "control/reports/reports.h"
#include "control/store/store.h"

namespace croft::control::api {

void AddSiteMethods(store::Store& store, domain::Access& access, Methods& methods);
void AddReportMethods(store::Store& store, domain::Access& access, reports::Reports& reports,
                      Methods& methods);

}  // namespace croft::control::api
