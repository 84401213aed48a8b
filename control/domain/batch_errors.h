// The errors of writes that are about many resources.
#pragma once

#include <absl/status/status.h>

#include <string_view>

namespace croft::control::domain {

// invalid_argument, reason SECRET_NEEDED: a token can't be made where its secret can't be shown.
absl::Status NeedsSecret(std::string_view token);

// A creation's error; a conflict where another made the resource just now, so that the next attempt
// finds it.
absl::Status ConflictIfTaken(const absl::Status& status, std::string_view name);

// Whether the error is the resource's own, so that others may be written still; not one of the
// database or of another transaction.
bool ConcernsResource(const absl::Status& status);

}  // namespace croft::control::domain
