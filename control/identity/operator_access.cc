#include "control/identity/operator_access.h"

#include <sys/stat.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include "control/identity/file.h"
#include "control/identity/tokens.h"
#include "proto/base/error.h"
#include "proto/base/log.h"

namespace croft::control::identity {
namespace {

constexpr const char* kContext = "local";
constexpr const char* kAdministrator = "administrator";

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

absl::StatusOr<std::string> FindOrMakeToken(store::Store& store, const std::string& path) {
  std::string token = FindToken(path);
  if (!token.empty()) {
    const auto known = store.FindOperatorToken(HashToken(token));
    if (!known.ok()) {
      return known.status();
    }
    if (known->has_value()) {
      return token;
    }
  }
  token = MakeOperatorToken();
  if (absl::Status status = store.InsertOperatorToken(HashToken(token), kAdministrator);
      !status.ok()) {
    return status;
  }
  log::Info("identity", "made an administrator token", {{"file", path}});
  return token;
}

}  // namespace

absl::Status WriteOperatorAccess(store::Store& store, const OperatorAccess& access) {
  if (absl::Status status = WriteFile(access.data_dir + "/ca.crt", access.ca, 0644); !status.ok()) {
    return status;
  }
  const std::string path = access.data_dir + "/operator.yaml";
  const auto token = FindOrMakeToken(store, path);
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
