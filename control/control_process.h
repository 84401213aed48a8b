// The serving part of croft-control: wires store, identity, feed, reports and API together, says
// that it listens, and runs until told to stop.
#pragma once

#include <absl/status/status.h>

#include <string>

#include "control/identity/key_file.h"
#include "control/settings.h"

namespace croft::control {

// REQUIRES: TERM and INT are blocked in this and every other thread. Blocks until one of them
// comes.
absl::Status RunControl(const Settings& settings, const std::string& database_url,
                        const identity::SealingKey& key);

}  // namespace croft::control
