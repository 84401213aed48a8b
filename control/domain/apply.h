// Makes resources as a request has them, creating, updating and pruning: everything in one change,
// or nothing. Whatever the order of the request, what others need is made before them, and removed
// after them.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "control/domain/resources.h"
#include "croft/v1/resource.pb.h"

namespace croft::control::domain {

// The answer is an ApplyResourcesResponse. Errors name the resource, and fields by their place in
// the request: "resources[3].site.bindings[0].port". `fingerprint` is the request's, if it has a
// request id.
absl::StatusOr<Written> Apply(store::Store& store, Access& access, const Caller& caller,
                              const v1::ApplyResourcesRequest& request,
                              const std::string& fingerprint);

}  // namespace croft::control::domain
