#include "node/launcher/options.h"

#include <filesystem>

#include "proto/base/error.h"

namespace croft::node::launcher {
namespace {

using absl::StatusCode;

absl::Status SetLogLevel(const std::string& name, Options& options) {
  for (const char* known : {"debug", "info", "warn", "error"}) {
    if (name == known) {
      options.log_level = name;
      return absl::OkStatus();
    }
  }
  return Error(StatusCode::kInvalidArgument,
               "--log-level '{}': expected debug, info, warn or error", name);
}

absl::Status SetDataDir(const std::string& path, Options& options) {
  if (path.empty()) {
    return Error(StatusCode::kInvalidArgument, "--data-dir is empty: expected a directory");
  }
  std::error_code failed;
  options.data_dir = std::filesystem::absolute(path, failed).lexically_normal().string();
  if (failed) {
    return Error(StatusCode::kInvalidArgument, "--data-dir '{}': {}", path, failed.message());
  }
  if (options.data_dir.size() > 1 && options.data_dir.back() == '/') {
    options.data_dir.pop_back();
  }
  return absl::OkStatus();
}

absl::Status SetOption(const std::string& name, const std::string& value, Options& options) {
  if (name == "--data-dir") {
    return SetDataDir(value, options);
  }
  if (name == "--log-level") {
    return SetLogLevel(value, options);
  }
  if (name == "--metrics-listen") {
    options.metrics_listen = value;
    return value.find(':') != std::string::npos
               ? absl::OkStatus()
               : Error(StatusCode::kInvalidArgument,
                       "--metrics-listen '{}': expected IP:PORT, like 127.0.0.1:9480", value);
  }
  if (name == "--identity-range") {
    auto range = ParseIdentityRange(value);
    if (range.ok()) {
      options.identities = *range;
    }
    return range.status();
  }
  return Error(StatusCode::kInvalidArgument,
               "unknown option '{}'; croft-launcher --help lists all of them", name);
}

}  // namespace

const char* const kHelp =
    R"(croft-launcher: the parent of all of Croft's processes on a node. Starts the agent, and on
its request the listener and the workers of application pools, each as a user of its own; keeps
their listening sockets.

Usage: croft-launcher --data-dir DIR [--identity-range FIRST-LAST] [--log-level LEVEL]
                      [--metrics-listen IP:PORT]

  --data-dir DIR               The node's directory: node.yaml (its configuration), identity/,
                               replica/, log/, run/. Missing parts are made.
  --identity-range FIRST-LAST  User and group ids that belong to Croft on this machine, default
                               58000-59999: agent FIRST, listener FIRST+1, the workers of a pool
                               FIRST+16 and above. Used when started as root; everything runs as
                               the same user otherwise.
  --metrics-listen IP:PORT     Where the agent gives metrics to Prometheus, at /metrics over HTTP
                               and without a token; default nowhere. Above port 1023.
  --log-level LEVEL            debug, info, warn or error, for all processes of the node; default
                               $CROFT_LOG or info.

The programs croft-agent, croft-listener and croft-worker are those beside croft-launcher itself.
SIGTERM ends the node: the listener and the workers finish what they serve, for at most ten
seconds; a second one ends it at once.

Examples:
  croft-launcher --data-dir /var/lib/croft/node
  croft-launcher --data-dir /srv/croft --identity-range 70000-71999 --log-level debug
)";

absl::StatusOr<Options> ParseOptions(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--help" || arguments[i] == "-h") {
      options.help = true;
      return options;
    }
    const std::size_t equals = arguments[i].find('=');
    const std::string name = arguments[i].substr(0, equals);
    std::string value;
    if (equals != std::string::npos) {
      value = arguments[i].substr(equals + 1);
    } else if (++i < arguments.size()) {
      value = arguments[i];
    } else {
      return Error(StatusCode::kInvalidArgument,
                   "option '{}' needs a value; see croft-launcher --help", name);
    }
    if (const absl::Status status = SetOption(name, value, options); !status.ok()) {
      return status;
    }
  }
  if (options.data_dir.empty()) {
    return Error(StatusCode::kInvalidArgument,
                 "--data-dir DIR is missing; see croft-launcher --help");
  }
  return options;
}

}  // namespace croft::node::launcher
