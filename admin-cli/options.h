// The options of the command line, in groups. A verb names the groups it takes; help, man pages and
// completion come from what is added here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "admin-cli/contexts.h"
#include "admin-cli/invocation.h"

namespace CLI {
class App;
}

namespace croft::admin_cli {

// What was typed, before it is an invocation.
struct Options {
  std::string context, farm, format, wait = "accepted", timeout = "30s";
  std::string type;
  std::vector<std::string> arguments;
  Invocation invocation;
};

// Adds the options of space-separated groups, each once. REQUIRES: the groups exist.
void AddOptions(CLI::App& app, std::string_view groups, Options& options);

// Fills the invocation from the options; the context's farm is the default. Refuses what the
// grammar alone can't.
absl::Status Complete(Options& options, const Context& context);

}  // namespace croft::admin_cli
