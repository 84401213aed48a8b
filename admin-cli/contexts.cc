#include "admin-cli/contexts.h"

#include <sys/stat.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>

#include "proto/base/error.h"

namespace croft::admin_cli {

absl::Status CheckContextKey(std::string_view key) {
  constexpr std::string_view kKeys[] = {"control", "ca_file", "ca", "token", "token_file", "farm"};
  std::string list;
  for (const std::string_view known : kKeys) {
    if (known == key) {
      return absl::OkStatus();
    }
    list += (list.empty() ? "" : ", ") + std::string(known);
  }
  return Error(absl::StatusCode::kInvalidArgument, "unknown key \"{}\"; there are: {}", key, list);
}

namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
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

// A token that others can read is the operator's to know about, as with an ssh key.
void WarnIfOpen(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0 && (status.st_mode & 0077) != 0) {
    std::fprintf(stderr, "croft: warning: %s holds a token and is open to others: chmod 600 %s\n",
                 path.c_str(), path.c_str());
  }
}

absl::Status CheckKeys(const std::string& path, const std::string& name, const YAML::Node& entry) {
  for (const auto& item : entry) {
    if (auto status = CheckContextKey(item.first.as<std::string>()); !status.ok()) {
      return Error(absl::StatusCode::kInvalidArgument, "{}: context \"{}\": {}", path, name,
                   std::string(status.message()));
    }
  }
  return absl::OkStatus();
}

// What a file named by `key` holds; empty if the context has no such key.
absl::StatusOr<std::string> FileOf(const std::string& path, const std::string& name,
                                   const YAML::Node& entry, const char* key) {
  if (!entry[key]) {
    return std::string();
  }
  auto text = ReadFile(Text(entry, key));
  if (!text.ok()) {
    return Error(absl::StatusCode::kInvalidArgument, "{}: {} of context \"{}\": {}", path, key,
                 name, std::string(text.status().message()));
  }
  return text;
}

// Whether what is needed to reach control is there, the environment's share included.
absl::Status CheckContext(const std::string& path, const Context& context) {
  const char* missing = context.control.empty() ? "control: \"HOST:PORT\""
                        : context.ca.empty()    ? "ca_file: PATH (control's ca.crt)"
                        : context.token.empty() ? "token: TOKEN, or token_file: PATH"
                                                : nullptr;
  if (missing == nullptr) {
    return absl::OkStatus();
  }
  return Error(absl::StatusCode::kInvalidArgument, "{}: the context lacks {}", path, missing);
}

absl::StatusOr<Context> FromYaml(const std::string& path, const YAML::Node& file,
                                 const std::string& wanted) {
  if (!file.IsMap() || !file["contexts"].IsMap()) {
    return Error(
        absl::StatusCode::kInvalidArgument,
        "{} is no contexts file: it has \"current: NAME\" and \"contexts:\" with, per name, "
        "control, ca_file and token",
        path);
  }
  const std::string name = wanted.empty() ? Text(file, "current") : wanted;
  const YAML::Node entry = file["contexts"][name];
  if (!entry || !entry.IsMap()) {
    std::string there;
    for (const auto& item : file["contexts"]) {
      there += (there.empty() ? "" : ", ") + item.first.as<std::string>();
    }
    return Error(
        absl::StatusCode::kInvalidArgument,
        "{} has no context \"{}\"; it has: {}. Choose one with --context, CROFT_CONTEXT or croft "
        "use context NAME",
        path, name, there);
  }
  if (auto status = CheckKeys(path, name, entry); !status.ok()) {
    return status;
  }
  Context context;
  context.control = Text(entry, "control");
  context.token = Text(entry, "token");
  if (const std::string farm = Text(entry, "farm"); !farm.empty()) {
    context.farm = farm;
  }
  context.ca = Text(entry, "ca");
  if (context.ca.empty()) {
    auto pem = FileOf(path, name, entry, "ca_file");
    if (!pem.ok()) {
      return pem.status();
    }
    context.ca = *std::move(pem);
  }
  if (context.token.empty()) {
    auto token = FileOf(path, name, entry, "token_file");
    if (!token.ok()) {
      return token.status();
    }
    context.token = token->substr(0, token->find_first_of(" \r\n"));
  }
  return context;
}

}  // namespace

std::string ContextsPath() {
  if (const std::string path = Environment("CROFT_CONFIG"); !path.empty()) {
    return path;
  }
  const std::string home = Environment("XDG_CONFIG_HOME");
  return home.empty() ? Environment("HOME") + "/.config/croft/contexts.yaml"
                      : home + "/croft/contexts.yaml";
}

absl::StatusOr<Context> LoadContext(const std::string& name) {
  const std::string path = ContextsPath();
  const auto text = ReadFile(path);
  if (!text.ok()) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "no contexts file ({}); croft-control writes one, operator.yaml, into its data "
                 "directory: set CROFT_CONFIG to it, or copy it to ~/.config/croft/contexts.yaml; "
                 "or croft create context NAME "
                 "control=HOST:PORT ca-file=PATH token-file=PATH",
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
  } else {
    WarnIfOpen(path);
  }
  if (auto status = CheckContext(path, *context); !status.ok()) {
    return status;
  }
  return context;
}

}  // namespace croft::admin_cli
