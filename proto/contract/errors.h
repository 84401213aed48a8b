// The API's error detail, carried inside absl::Status under one payload key so that an error
// crosses every layer unchanged.
#pragma once

#include <absl/status/status.h>

#include <optional>
#include <string_view>
#include <vector>

#include "croft/v1/error.pb.h"

namespace croft::contract {

// The message as the standard's string_view (Debian's absl has its own). Valid as long as `status`.
inline std::string_view MessageOf(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

absl::Status WithDetail(absl::Status status, const v1::ErrorDetail& detail);
std::optional<v1::ErrorDetail> FindDetail(const absl::Status& status);
// The detail to send with an error: its own, or one whose reason is the status code's name. An
// error of another program's making (a database that is away) may be tried again.
v1::ErrorDetail CompleteDetail(const absl::Status& status);

// invalid_argument with the violations in message and detail (reason FIELD_INVALID), as many as fit
// into 8 KiB of trailers, and the number of those left out; OK if there is none.
absl::Status InvalidFields(const std::vector<v1::FieldViolation>& violations);

}  // namespace croft::contract
