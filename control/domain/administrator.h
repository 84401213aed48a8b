// The first administrator: operators/administrator with every right, and tokens/administrator,
// whose secret control writes into its data directory. Blocks on the store.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "control/domain/resources.h"
#include "control/store/store.h"
#include "proto/base/clock.h"

namespace croft::control::domain {

// Makes the operator if there is none; a disabled one stays so. Gives each administrator's token of
// a database from before tokens were resources a resource of its own. Gives back `token` if it is a
// live one, otherwise the secret of a new one: whoever may read control's data directory is an
// administrator.
absl::StatusOr<std::string> KeepAdministratorToken(store::Store& store, Resources& resources,
                                                   const Clock& clock, const std::string& token);

}  // namespace croft::control::domain
