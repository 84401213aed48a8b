// Where the command line finds control: contexts.yaml and the environment.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

namespace croft::admin_cli {

struct Context {
  std::string control;  // host:port
  std::string ca;       // PEM
  std::string token;
  std::string farm = "main";  // default farm's id
};

// CROFT_CONFIG or ~/.config/croft/contexts.yaml.
std::string ContextsPath();
// Refuses what is no key of a context, naming those there are.
absl::Status CheckContextKey(std::string_view key);

// Reads CROFT_CONFIG or ~/.config/croft/contexts.yaml and takes the context named by `name`, else
// CROFT_CONTEXT, else the file's `current`. CROFT_CONTROL and CROFT_TOKEN override. The error says
// how to get a context.
absl::StatusOr<Context> LoadContext(const std::string& name);

}  // namespace croft::admin_cli
