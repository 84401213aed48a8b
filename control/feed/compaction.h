// Purges deleted resources at their time: from then on they can't be undeleted, and a node that has
// not heard of their deletion needs a snapshot. Feed thread only.
#pragma once

#include <absl/status/status.h>

#include <chrono>
#include <optional>

#include "control/feed/feed.h"
#include "control/store/store.h"
#include "proto/base/clock.h"

namespace croft::control::feed {

class Compaction {
 public:
  static constexpr std::chrono::minutes kInterval{10};

  Compaction(store::Store& store, const Clock& clock, const FeedOptions& options)
      : store_(store), clock_(clock), options_(options), next_(clock.Monotonic() + kInterval) {}

  // Does nothing before its time.
  absl::Status RunIfDue();

 private:
  store::Store& store_;
  const Clock& clock_;
  const FeedOptions options_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace croft::control::feed
