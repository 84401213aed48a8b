// Answers "what would this URL lead to, and why" by the very functions the listener routes with,
// over the store instead of a replica. Blocks on the store.
#pragma once

#include <absl/status/statusor.h>

#include "control/store/store.h"
#include "croft/v1/site.pb.h"

namespace croft::control::api {

absl::StatusOr<v1::ExplainUrlResponse> ExplainUrl(store::Store& store,
                                                  const v1::ExplainUrlRequest& request);

}  // namespace croft::control::api
