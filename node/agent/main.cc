// croft-agent --data-dir=DIR [--metrics-listen=IP:PORT]: started by croft-launcher, with the
// launcher's channel as descriptor 3.

#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "node/agent/agent.h"
#include "node/agent/node_config.h"
#include "node/link/inherited_fds.h"
#include "proto/base/log.h"

namespace {

using croft::node::agent::Agent;

constexpr char kVersion[] = CROFT_VERSION;
constexpr int kExitUsage = 2;

struct Arguments {
  std::string data_directory;
  std::string metrics_listen;
};

std::optional<Arguments> ParseArguments(int argc, char** argv) {
  constexpr std::string_view kDataDirectory = "--data-dir=";
  constexpr std::string_view kMetricsListen = "--metrics-listen=";
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(kDataDirectory)) {
      arguments.data_directory = argument.substr(kDataDirectory.size());
    } else if (argument.starts_with(kMetricsListen)) {
      arguments.metrics_listen = argument.substr(kMetricsListen.size());
    } else {
      return std::nullopt;
    }
  }
  return arguments.data_directory.empty() ? std::nullopt : std::optional(arguments);
}

int Run(const Arguments& arguments) {
  auto config = croft::node::agent::ReadNodeConfig(arguments.data_directory + "/node.yaml");
  if (!config.ok()) {
    croft::log::Error("agent", "configuration cannot be used",
                      {{"err", std::string(config.status().message())}});
    return EXIT_FAILURE;
  }
  boost::asio::io_context loop(1);
  const croft::SystemClock clock;
  auto agent = Agent::Create(loop, clock,
                             {.data_directory = arguments.data_directory,
                              .version = kVersion,
                              .config = *std::move(config),
                              .metrics_listen = arguments.metrics_listen},
                             croft::UniqueFd(croft::node::link::kControlChannelFd),
                             [&loop] { loop.stop(); });
  if (!agent.ok()) {
    croft::log::Error("agent", "cannot start", {{"err", agent.status().ToString()}});
    return EXIT_FAILURE;
  }
  boost::asio::signal_set stop(loop, SIGTERM, SIGINT);
  stop.async_wait([&loop](const boost::system::error_code&, int) { loop.stop(); });
  (*agent)->Start();
  loop.run();
  agent->reset();  // the replica is closed cleanly; listener and workers run on
  // gRPC's threads may still hold the loop; nothing is left to be done for them.
  std::_Exit(EXIT_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = ParseArguments(argc, argv);
  if (!arguments.has_value()) {
    croft::log::Error("agent",
                      "usage: croft-agent --data-dir=DIR [--metrics-listen=IP:PORT]; it is "
                      "croft-launcher's to start");
    return kExitUsage;
  }
  ::signal(SIGPIPE, SIG_IGN);
  try {
    return Run(*arguments);
  } catch (const std::exception& error) {  // thrown by libraries only
    croft::log::Error("agent", "unexpected exception", {{"err", error.what()}});
    return EXIT_FAILURE;
  }
}
