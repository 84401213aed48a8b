#include "control/domain/batch_errors.h"

#include "control/domain/failures.h"
#include "control/store/conflicts.h"
#include "proto/base/error.h"
#include "proto/contract/errors.h"

namespace croft::control::domain {

absl::Status NeedsSecret(std::string_view token) {
  v1::ErrorDetail detail;
  detail.set_reason("SECRET_NEEDED");
  detail.set_resource(std::string(token));
  return contract::WithDetail(
      Error(absl::StatusCode::kInvalidArgument,
            "{} does not exist, and a token's secret is shown only to who creates it by itself; "
            "use croft create token",
            token),
      detail);
}

absl::Status ConflictIfTaken(const absl::Status& status, std::string_view name) {
  const auto detail = contract::FindDetail(status);
  return detail.has_value() && detail->reason() == "NAME_TAKEN" && detail->resource() == name
             ? store::Conflict(name)
             : status;
}

bool ConcernsResource(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kDataLoss:
      return true;
    case absl::StatusCode::kAborted:
      return !IsConflict(status);
    default:
      return false;
  }
}

}  // namespace croft::control::domain
