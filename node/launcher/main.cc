#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "node/launcher/launcher.h"
#include "node/launcher/options.h"

int main(int argc, char** argv) {
  using namespace croft::node::launcher;
  const auto options = ParseOptions(std::vector<std::string>(argv + 1, argv + argc));
  if (!options.ok()) {
    std::fprintf(stderr, "croft-launcher: %s\n", std::string(options.status().message()).c_str());
    return 2;
  }
  if (options->help) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (!options->log_level.empty()) {
    // The log of this process and of all that it starts.
    ::setenv("CROFT_LOG", options->log_level.c_str(), 1);
  }
  const auto launcher = Launcher::Open(*options);
  if (!launcher.ok()) {
    std::fprintf(stderr, "croft-launcher: %s\n", std::string(launcher.status().message()).c_str());
    return 1;
  }
  (*launcher)->Run();
  return 0;
}
