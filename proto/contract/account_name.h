// Account names: valid in every URL form in use (/bob/, /~bob/, bob.pages.example), so a DNS label.
// Pure.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

namespace croft::contract {

// Lower-cased; letters, digits and inner hyphens, 1..63, not "xn--", not reserved. The error names
// the rule.
absl::StatusOr<std::string> ParseAccountName(std::string_view text);

// Whether the (lower-case) name is kept back for hosts and paths of the operator: www, mail, ftp,
// admin, cgi-bin, ...
bool IsReservedAccountName(std::string_view name);

// The canonical form of a URL's user segment if it can be an account's name; empty otherwise.
// Cheap; for the request path.
std::string CanonicalAccountName(std::string_view segment);

}  // namespace croft::contract
