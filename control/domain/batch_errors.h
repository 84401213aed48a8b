// The errors of writes that are about many resources.
#pragma once

#include <absl/status/status.h>

#include <string_view>

namespace croft::control::domain {

// invalid_argument, reason SECRET_NEEDED: a token can't be made where its secret can't be shown.
absl::Status NeedsSecret(std::string_view token);

// Whether the error is the resource's own, so that others may be written still; not one of the
// database or of another transaction.
bool ConcernsResource(const absl::Status& status);

}  // namespace croft::control::domain
