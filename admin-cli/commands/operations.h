// Long-running work, as the commands that start it follow it.
#pragma once

#include "admin-cli/invocation.h"
#include "croft/v1/operation.pb.h"

namespace croft::admin_cli {

// On stderr, each item that failed on a line of its own.
void PrintOperationErrors(const v1::Operation& operation);

// Shows the progress until the operation has ended or the time is up (below 0: never), says what
// came of it, and then waits for its revision as the invocation asks.
ExitCode FollowOperation(ApiClient& client, const Invocation& invocation, v1::Operation operation,
                         std::int64_t timeout_ms);

}  // namespace croft::admin_cli
