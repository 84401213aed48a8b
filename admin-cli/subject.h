// Options that name an object or a moment, as the API wants them. Pure but for the clock.
#pragma once

#include <absl/status/statusor.h>
#include <google/protobuf/timestamp.pb.h>

#include <string>
#include <string_view>
#include <vector>

namespace croft::admin_cli {

// "site/shop", or a full name -> the full name.
absl::StatusOr<std::string> ParseObject(std::string_view text, std::string_view farm);

// Positionals: nothing, a full name, or TYPE NAME. `usage` ends the error.
absl::StatusOr<std::string> SubjectOf(const std::vector<std::string>& names, std::string_view farm,
                                      std::string_view usage);

// "2h" (that long before `now`), or a time of RFC 3339.
absl::StatusOr<google::protobuf::Timestamp> ParseSince(std::string_view text,
                                                       const google::protobuf::Timestamp& now);
google::protobuf::Timestamp Now();

// "app=shop,tier!=web,owner" -> labels.app = "shop" AND labels.tier != "web" AND labels:owner;
// with a filter, both.
absl::StatusOr<std::string> FilterOf(std::string_view filter, std::string_view selector);

// A whole number above 0, such as a revision. `what` begins the error.
absl::StatusOr<std::int64_t> ParseNumber(std::string_view text, std::string_view what);

}  // namespace croft::admin_cli
