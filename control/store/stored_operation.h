// Operations as the store keeps them: what is shown, what was asked, and how far it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "croft/v1/operation.pb.h"

namespace croft::control::store {

// Work that goes on after its call. An instance of control takes it up for as long as it lives.
struct StoredOperation {
  std::int64_t uid = 0;
  std::int64_t organization_uid = 0;  // its operator's
  std::int64_t operator_uid = 0;      // whose rights it has, with the token's
  std::int64_t token_uid = 0;
  bool deletes = false;
  std::string request = {};       // serialised v1::UpdateResourcesRequest, also of a deletion
  v1::Operation shown = {};       // name, uid, organization, times and revision: read side
  bool counting = false;          // its items are still being counted
  std::string after_name = {};    // the last item that was looked at
  std::int64_t after_uid = 0;     //
  std::int64_t change_id = 0;     // of the last change it made; 0: none yet
  std::string cancelled_by = {};  // who asked for its end, if anybody did (read side)
  std::int64_t instance = 0;      // that has taken it up (read side)
};

// Newest first.
struct OperationQuery {
  std::int64_t before_uid = 0;  // 0: from the newest on
  int limit = 100;
  bool running = false;  // only those under way
  // Only those of these organizations and of those below them, and the operator's own.
  std::optional<std::vector<std::int64_t>> within = std::nullopt;
  std::int64_t operator_uid = 0;
};

}  // namespace croft::control::store
