// What else croft-control does than run: "croft-control COMMAND ...".
#pragma once

#include <optional>
#include <string>

#include "control/settings.h"

namespace croft::control {

enum class CommandKind { kBackup, kRestore, kVerify, kOpenApi };

struct Command {
  CommandKind kind = CommandKind::kOpenApi;
  std::string directory;  // of the backup
  Settings settings;
};

// Whether the first argument names a command.
bool NamesCommand(int argc, const char* const* argv);

// REQUIRES: NamesCommand. nullopt: the process is to end with `exit_code`, as with ParseSettings.
std::optional<Command> ParseCommand(int argc, const char* const* argv, int& exit_code);

}  // namespace croft::control
