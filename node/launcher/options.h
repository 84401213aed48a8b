// The command line of croft-launcher.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "node/launcher/identities.h"

namespace croft::node::launcher {

struct Options {
  // Absolute; holds the node's configuration, replica, logs and sockets.
  std::string data_dir;
  IdentityRange identities;
  // "debug"; empty: the environment's CROFT_LOG, or info.
  std::string log_level;
  // IP:PORT where the agent gives metrics; empty: nowhere.
  std::string metrics_listen;
  bool help = false;
};

extern const char* const kHelp;

// REQUIRES: arguments without the program's name. invalid_argument names the option and what it
// takes.
absl::StatusOr<Options> ParseOptions(const std::vector<std::string>& arguments);

}  // namespace croft::node::launcher
