// From the uids nodes report to resource names. Remembers names for a minute, so that a listing of
// fifty thousand sites asks the store once. Blocks on the store; thread-safe.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/store/store.h"
#include "proto/base/clock.h"
#include "proto/base/guarded.h"

namespace croft::control::reports {

// What is remembered of a resource.
struct Named {
  std::string name;
  std::int64_t organization_uid = 0;
};

class InstanceNames {
 public:
  InstanceNames(store::Store& store, const Clock& clock) : store_(store), clock_(clock) {}

  // Names of those that exist; a deleted resource's uid is left out.
  absl::StatusOr<std::map<std::int64_t, Named>> Find(store::ResourceType type,
                                                     const std::vector<std::int64_t>& uids);

 private:
  struct Known {
    Named named;  // without a name: no such resource
    std::chrono::steady_clock::time_point until;
  };
  using Key = std::pair<store::ResourceType, std::int64_t>;

  absl::Status LearnOne(Key key);
  absl::Status LearnAll(store::ResourceType type);
  void Remember(Key key, Named named);

  store::Store& store_;
  const Clock& clock_;
  Guarded<std::map<Key, Known>> known_;
};

}  // namespace croft::control::reports
