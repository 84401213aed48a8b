#include "admin-cli/exit_code.h"

#include "proto/contract/errors.h"

namespace croft::admin_cli {

ExitCode ExitCodeOf(const absl::Status& status) {
  const auto detail = contract::FindDetail(status);
  if (detail.has_value() && detail->reason() == "REFERENCED") {
    return ExitCode::kConflict;
  }
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kDone;
    case absl::StatusCode::kNotFound:
      return ExitCode::kNotFound;
    case absl::StatusCode::kAlreadyExists:
      return ExitCode::kConflict;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kDataLoss:  // what is stored is invalid
    case absl::StatusCode::kOutOfRange:
      return ExitCode::kInvalid;
    case absl::StatusCode::kResourceExhausted:
      return ExitCode::kLimit;
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return ExitCode::kNotPermitted;
    case absl::StatusCode::kDeadlineExceeded:
      return ExitCode::kWaitTimedOut;
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kFailedPrecondition:
      return ExitCode::kPreconditionFailed;
    case absl::StatusCode::kUnimplemented:
      return ExitCode::kUsage;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kCancelled:
    default:
      return ExitCode::kUnreachable;
  }
}

}  // namespace croft::admin_cli
