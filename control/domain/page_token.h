// Where a list goes on: opaque to callers, and good only for the list it came from.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

namespace croft::control::domain {

// `list` says which list it is ("sites of farms/main"), `after` the last name given out.
std::string MakePageToken(std::string_view list, std::string_view after);
// The name; "" for an empty token. invalid_argument for a token of another list, or none at all.
absl::StatusOr<std::string> ParsePageToken(std::string_view list, std::string_view token);

}  // namespace croft::control::domain
