// DATA/node.yaml, checked: every mistake is reported at once, with line, path and the nearest valid
// name.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "croft/node/v1/config.pb.h"

namespace croft::node::agent {

// Fills in what is left out: addresses ["*"], health.ip "0.0.0.0", loops = `processors`.
absl::StatusOr<v1::NodeConfig> ParseNodeConfig(std::string_view text, unsigned processors);

// not_found names the file and says what belongs there.
absl::StatusOr<v1::NodeConfig> ReadNodeConfig(const std::string& path);

}  // namespace croft::node::agent
