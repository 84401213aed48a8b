#include "admin-cli/exit_code.h"

#include <gtest/gtest.h>

#include "proto/contract/errors.h"

namespace croft::admin_cli {
namespace {

TEST(ExitCode, FollowsTheCode) {
  const struct {
    absl::StatusCode code;
    ExitCode exit;
  } kCases[] = {
      {absl::StatusCode::kOk, ExitCode::kDone},
      {absl::StatusCode::kNotFound, ExitCode::kNotFound},
      {absl::StatusCode::kAlreadyExists, ExitCode::kConflict},
      {absl::StatusCode::kInvalidArgument, ExitCode::kInvalid},
      {absl::StatusCode::kResourceExhausted, ExitCode::kLimit},
      {absl::StatusCode::kPermissionDenied, ExitCode::kNotPermitted},
      {absl::StatusCode::kUnauthenticated, ExitCode::kNotPermitted},
      {absl::StatusCode::kUnavailable, ExitCode::kUnreachable},
      {absl::StatusCode::kDeadlineExceeded, ExitCode::kWaitTimedOut},
      {absl::StatusCode::kAborted, ExitCode::kPreconditionFailed},
      {absl::StatusCode::kFailedPrecondition, ExitCode::kPreconditionFailed},
  };
  for (const auto& test : kCases) {
    EXPECT_EQ(ExitCodeOf(absl::Status(test.code, "x")), test.exit) << static_cast<int>(test.code);
  }
}

TEST(ExitCode, AResourceInUseIsAConflict) {
  v1::ErrorDetail detail;
  detail.set_reason("REFERENCED");
  EXPECT_EQ(ExitCodeOf(contract::WithDetail(absl::FailedPreconditionError("in use"), detail)),
            ExitCode::kConflict);
}

}  // namespace
}  // namespace croft::admin_cli
