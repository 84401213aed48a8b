// One write: answered from memory when its request id is known, tried again when another
// transaction came first, rolled back when it only validates.
#pragma once

#include <functional>

#include "control/domain/resources.h"
#include "control/store/store.h"

namespace croft::control::domain {

// What a transaction did. The answer has all fields but the revision, which Commit draws.
struct Outcome {
  MessagePtr answer;
  bool changed = true;  // false: nothing to write
};

struct WriteRequest {
  const Caller& caller;
  const WriteOptions& options;
  contract::ResourceType type;
};

// `work` may run more than once, each time in a transaction of its own.
absl::StatusOr<MessagePtr> Write(
    store::Store& store, const WriteRequest& request,
    const std::function<absl::StatusOr<Outcome>(store::Transaction&)>& work);

}  // namespace croft::control::domain
