// What the first operator needs, in the data directory: ca.crt, and operator.yaml (0600), a
// contexts file with address, CA and the administrator's token. Written at each start, since the
// address may have moved; the token stays as long as it is good.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <string>

namespace croft::control::identity {

struct OperatorAccess {
  std::string data_dir;
  std::string address;  // "127.0.0.1:7443"
  std::string ca;       // PEM
};

// The token given if it is an administrator's, or a new one. "" is given at the first start.
using KeepToken = std::function<absl::StatusOr<std::string>(const std::string& token)>;

absl::Status WriteOperatorAccess(const OperatorAccess& access, const KeepToken& keep_token);

}  // namespace croft::control::identity
