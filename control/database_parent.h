// Started by root with a private database, croft-control is two processes: a parent that stays root
// and does nothing but run PostgreSQL as its own user, and a child that drops to control's uid and
// does everything else. They live and die together.
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <string>

#include "control/settings.h"

namespace croft::control {

// REQUIRES: TERM and INT are blocked, and no thread runs yet. `child` gets the database's
// connection string. Returns in the parent, when the child has ended and PostgreSQL was stopped;
// the child ends the process with `child`'s answer as its exit code.
int RunWithDatabaseParent(const Settings& settings,
                          const std::function<int(const std::string& database_url)>& child);

}  // namespace croft::control
