// Grants as one text: "organizations/acme:OPERATOR", "organizations/acme:VIEWER:site,account",
// "organizations/acme:OPERATOR:site:USE_FILE_STORE" (organization, role, types, permissions; types
// may be empty). Pure.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "croft/v1/operator.pb.h"

namespace croft::contract {

// A short organization ("acme") is left as it is. Which types and names there are is validation's.
absl::StatusOr<v1::Grant> ParseGrant(std::string_view text);
std::string FormatGrant(const v1::Grant& grant);

// The grants of a comma-separated list: commas also stand within a grant, so a new one begins where
// a role follows the first colon.
std::vector<std::string> SplitGrants(std::string_view text);

}  // namespace croft::contract
