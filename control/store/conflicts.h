// The errors of the database's constraints, in the words an operator needs. Every Store says them
// the same way.
#pragma once

#include <absl/status/status.h>

#include <string_view>

namespace croft::control::store {

// already_exists, reason NAME_TAKEN.
absl::Status NameTaken(std::string_view name);
// already_exists, reason BINDING_TAKEN, resource = the site that has it.
absl::Status BindingTaken(std::string_view encoded_key, std::string_view holder);
// already_exists, reason HOME_TAKEN, resource = the account that has it.
absl::Status HomeTaken(std::string_view path, std::string_view holder);
// already_exists, reason IDENTITY_TAKEN: a pool can't be undeleted, another one has its identity.
absl::Status IdentityTaken(std::string_view pool, std::string_view holder);
// aborted, retryable: somebody else's transaction came first.
absl::Status Conflict(std::string_view what);

}  // namespace croft::control::store
