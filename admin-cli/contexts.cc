#include "admin-cli/contexts.h"

#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "proto/base/error.h"

namespace croft::admin_cli {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string ContextsPath() {
  if (const std::string path = Environment("CROFT_CONFIG"); !path.empty()) {
    return path;
  }
  const std::string home = Environment("XDG_CONFIG_HOME");
  return home.empty() ? Environment("HOME") + "/.config/croft/contexts.yaml"
                      : home + "/croft/contexts.yaml";
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return ErrnoError("open {}", path);
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string Text(const YAML::Node& node, const char* key) {
  return node[key] ? node[key].as<std::string>() : "";
}

absl::StatusOr<Context> FromYaml(const std::string& path, const YAML::Node& file,
                                 const std::string& wanted) {
  const std::string name = wanted.empty() ? Text(file, "current") : wanted;
  const YAML::Node entry = file["contexts"][name];
  if (!entry) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "{} has no context \"{}\": choose one with --context or CROFT_CONTEXT", path,
                 name);
  }
  Context context;
  context.control = Text(entry, "control");
  context.token = Text(entry, "token");
  if (const std::string farm = Text(entry, "farm"); !farm.empty()) {
    context.farm = farm;
  }
  context.ca = Text(entry, "ca");
  if (context.ca.empty() && entry["ca_file"]) {
    auto pem = ReadFile(Text(entry, "ca_file"));
    if (!pem.ok()) {
      return pem.status();
    }
    context.ca = *std::move(pem);
  }
  return context;
}

}  // namespace

absl::StatusOr<Context> LoadContext(const std::string& name) {
  const std::string path = ContextsPath();
  const auto text = ReadFile(path);
  if (!text.ok()) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "no contexts file ({}); croft-control writes one, operator.yaml, into its data "
                 "directory: set CROFT_CONFIG to it, or copy it to ~/.config/croft/contexts.yaml",
                 std::string(text.status().message()));
  }
  absl::StatusOr<Context> context;
  try {
    context = FromYaml(path, YAML::Load(*text), name.empty() ? Environment("CROFT_CONTEXT") : name);
  } catch (const YAML::Exception& bad) {
    return Error(absl::StatusCode::kInvalidArgument, "{}: {}", path, bad.what());
  }
  if (!context.ok()) {
    return context;
  }
  if (const std::string control = Environment("CROFT_CONTROL"); !control.empty()) {
    context->control = control;
  }
  if (const std::string token = Environment("CROFT_TOKEN"); !token.empty()) {
    context->token = token;
  }
  return context;
}

}  // namespace croft::admin_cli
