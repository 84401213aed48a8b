// The command line's exit codes: a stable contract with scripts.
#pragma once

#include <absl/status/status.h>

namespace croft::admin_cli {

enum class ExitCode : int {
  kDone = 0,
  kDiffers = 1,
  kUsage = 2,
  kNotFound = 3,
  kConflict = 4,
  kInvalid = 5,
  kPartlyDone = 6,
  kLimit = 7,
  kNotPermitted = 8,
  kUnreachable = 9,
  kWaitTimedOut = 10,
  kRefusedByNode = 11,
  kPreconditionFailed = 12,
};

// For an error of the API: its code, and its detail's reason where the code alone does not tell.
ExitCode ExitCodeOf(const absl::Status& status);

}  // namespace croft::admin_cli
