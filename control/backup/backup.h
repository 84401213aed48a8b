// The copy of everything that can't be made again: the database, while control runs, and the keys
// that lie beside it. Whoever has a backup has the farm's keys.
#pragma once

#include <absl/status/status.h>

#include <string>

#include "control/settings.h"

namespace croft::control::backup {

// Makes `directory`. REQUIRES: TERM and INT are blocked; either ends it, with nothing left behind.
absl::Status MakeBackup(const std::string& directory, const Settings& settings);

// Compares every file of a backup with its manifest and says what it is.
absl::Status VerifyBackup(const std::string& directory);

// Into settings.data_dir, which must not be there or be empty, and an empty database. REQUIRES as
// above.
absl::Status RestoreBackup(const std::string& directory, const Settings& settings);

}  // namespace croft::control::backup
