#include "node/agent/node_config.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <thread>

#include "proto/base/error.h"
#include "proto/contract/binding_rules.h"
#include "proto/contract/errors.h"
#include "proto/contract/strict_reader.h"

namespace croft::node::agent {
namespace {

constexpr unsigned kLoopsMax = 64;
constexpr unsigned kPortMax = 65535;

croft::v1::FieldViolation Violation(std::string field, std::string value, std::string why) {
  croft::v1::FieldViolation violation;
  violation.set_field(std::move(field));
  violation.set_value(std::move(value));
  violation.set_description(std::move(why));
  return violation;
}

void CheckControl(const v1::NodeConfig& config,
                  std::vector<croft::v1::FieldViolation>& violations) {
  if (config.control().empty()) {
    return;
  }
  const std::size_t colon = config.control().rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == config.control().size()) {
    violations.push_back(
        Violation("control", config.control(), "expected host:port, such as control.example:7443"));
  }
  if (config.ca_file().empty()) {
    violations.push_back(
        Violation("ca_file", "", "required with control; copy control's ca.crt to the node"));
  }
}

void CheckAddresses(const v1::NodeConfig& config,
                    std::vector<croft::v1::FieldViolation>& violations) {
  for (int i = 0; i < config.addresses_size(); ++i) {
    const auto ip = contract::ParseIp(config.addresses(i));
    if (!ip.ok()) {
      violations.push_back(Violation(fmt::format("addresses[{}]", i), config.addresses(i),
                                     std::string(ip.status().message())));
    }
  }
  if (!contract::ParseIp(config.health().ip()).ok()) {
    violations.push_back(
        Violation("health.ip", config.health().ip(), "expected an IPv4 or IPv6 address, or \"*\""));
  }
}

void FillIn(unsigned processors, v1::NodeConfig& config) {
  if (config.addresses().empty()) {
    config.add_addresses("*");
  }
  if (config.health().ip().empty() || config.health().ip() == "*") {
    config.mutable_health()->set_ip("0.0.0.0");
  }
  if (config.loops() == 0) {
    config.set_loops(std::clamp(processors, 1U, kLoopsMax));
  }
}

}  // namespace

absl::StatusOr<v1::NodeConfig> ParseNodeConfig(std::string_view text, unsigned processors) {
  v1::NodeConfig config;
  std::vector<croft::v1::FieldViolation> violations = contract::ReadStrict(text, config).violations;
  CheckControl(config, violations);
  CheckAddresses(config, violations);
  if (config.loops() > kLoopsMax) {
    violations.push_back(Violation("loops", std::to_string(config.loops()), "at most 64"));
  }
  if (config.health().port() > kPortMax) {
    violations.push_back(
        Violation("health.port", std::to_string(config.health().port()), "at most 65535"));
  }
  if (absl::Status status = contract::InvalidFields(violations); !status.ok()) {
    return status;
  }
  FillIn(processors, config);
  return config;
}

absl::StatusOr<v1::NodeConfig> ReadNodeConfig(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return Error(absl::StatusCode::kNotFound,
                 "node configuration {} cannot be read; it needs at least \"control: host:port\" "
                 "and \"ca_file: FILE\"",
                 path);
  }
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  auto config = ParseNodeConfig(text, std::thread::hardware_concurrency());
  if (!config.ok()) {
    return Error(config.status().code(), "{}: {}", path, std::string(config.status().message()));
  }
  return config;
}

}  // namespace croft::node::agent
