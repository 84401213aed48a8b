#include "control/identity/operator_access.h"

#include <sys/stat.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include "control/identity/file.h"

namespace croft::control::identity {
namespace {

constexpr const char* kContext = "local";

// The token of an earlier start; empty if there is no readable file.
std::string FindToken(const std::string& path) {
  if (::access(path.c_str(), R_OK) != 0) {
    return {};
  }
  try {
    const YAML::Node token = YAML::LoadFile(path)["contexts"][kContext]["token"];
    return token.IsScalar() ? token.as<std::string>() : std::string();
  } catch (const YAML::Exception&) {
    return {};
  }
}

}  // namespace

absl::Status WriteOperatorAccess(const OperatorAccess& access, const KeepToken& keep_token) {
  if (absl::Status status = WriteFile(access.data_dir + "/ca.crt", access.ca, 0644); !status.ok()) {
    return status;
  }
  const std::string path = access.data_dir + "/operator.yaml";
  const auto token = keep_token(FindToken(path));
  if (!token.ok()) {
    return token.status();
  }
  YAML::Emitter out;
  out << YAML::BeginMap << YAML::Key << "current" << YAML::Value << kContext;
  out << YAML::Key << "contexts" << YAML::Value << YAML::BeginMap;
  out << YAML::Key << kContext << YAML::Value << YAML::BeginMap;
  out << YAML::Key << "control" << YAML::Value << YAML::DoubleQuoted << access.address;
  out << YAML::Key << "ca" << YAML::Value << YAML::Literal << access.ca;
  out << YAML::Key << "token" << YAML::Value << *token;
  out << YAML::Key << "farm" << YAML::Value << "main";
  out << YAML::EndMap << YAML::EndMap << YAML::EndMap;
  return WriteFile(path, std::string(out.c_str()) + "\n", 0600);
}

}  // namespace croft::control::identity
