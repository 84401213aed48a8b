// Errors as the Connect protocol's unary form has them: a code's name, an HTTP status, and a JSON
// object in which ErrorDetail stands both as clients decode it and as people read it. Pure.
#pragma once

#include <absl/status/status.h>

#include <string>
#include <string_view>

namespace croft::control::gateway {

// "not_found"
std::string_view CodeName(absl::StatusCode code);
int HttpStatus(absl::StatusCode code);

// {"code":"not_found","message":"...","details":[{"type":"croft.v1.ErrorDetail","value":"<base64>",
// "debug":{"reason":"...","violations":[...],"resource":"","retryable":false}}]}, on one line.
std::string ErrorJson(const absl::Status& status);

}  // namespace croft::control::gateway
