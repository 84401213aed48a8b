// Answers "what would this URL lead to, and why" by the very functions the listener routes with,
// over the store instead of a replica. Blocks on the store.
#pragma once

#include <absl/status/statusor.h>

#include "control/domain/access.h"
#include "control/store/store.h"
#include "croft/v1/site.pb.h"

namespace croft::control::api {

struct Viewer {
  domain::Access& access;
  const domain::Caller& caller;
};

// not_found where the viewer doesn't see the site that answers. Who sees neither nodes nor stores
// is not told where files are.
absl::StatusOr<v1::ExplainUrlResponse> ExplainUrl(store::Store& store, const Viewer& viewer,
                                                  const v1::ExplainUrlRequest& request);

}  // namespace croft::control::api
