// Control's data directory and the identity control runs as. As root the directory stays root's,
// open to control's group with the sticky bit: control can write files of its own there, and touch
// none of root's or the database's.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>

#include "control/settings.h"
#include "proto/base/unique_fd.h"

namespace croft::control {

// Makes the directory if need be and locks it; the lock lasts as long as the descriptor, in any
// process that has it. failed_precondition when another control has it.
absl::StatusOr<UniqueFd> OpenDataDirectory(const Settings& settings);

// Gives up root for good; nothing to do otherwise.
absl::Status DropPrivileges(const Settings& settings);

}  // namespace croft::control
