// What the first operator needs, in the data directory: ca.crt, and operator.yaml (0600), a
// contexts file with address, CA and the administrator's token. Written at each start, since the
// address may have moved; the token stays as long as the database knows it.
#pragma once

#include <absl/status/status.h>

#include <string>

#include "control/store/store.h"

namespace croft::control::identity {

struct OperatorAccess {
  std::string data_dir;
  std::string address;  // "127.0.0.1:7443"
  std::string ca;       // PEM
};

absl::Status WriteOperatorAccess(store::Store& store, const OperatorAccess& access);

}  // namespace croft::control::identity
