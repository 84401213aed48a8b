// Carries operations on, one bounded step at a time: takes up the one that has waited longest,
// counts or edits its next items, and commits that together with how far it is. So whoever takes it
// up next, in this process or another, goes on after the last batch that was committed. One thread;
// blocks on the store.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string_view>

#include "control/domain/access.h"
#include "control/store/store.h"
#include "proto/base/clock.h"

namespace croft::control::operations {

enum class Step {
  kIdle,    // nothing is under way
  kWorked,  // there may be more to do
  kEnded,   // an operation has ended
};

class Worker {
 public:
  Worker(store::Store& store, domain::Access& access, const Clock& clock)
      : store_(store), access_(access), clock_(clock) {}

  // An error: nothing was done, the same is to be tried again a little later.
  absl::StatusOr<Step> Run();

 private:
  absl::StatusOr<Step> Continue(store::StoredOperation& operation);
  // What its operator's grants and its token allow at this moment.
  absl::StatusOr<domain::Caller> FindRights(const store::StoredOperation& operation);
  absl::StatusOr<Step> End(store::StoredOperation& operation, v1::Operation::State state,
                           std::string_view message);

  store::Store& store_;
  domain::Access& access_;
  const Clock& clock_;
  // Attempts that failed in a row, and whose.
  std::int64_t failing_uid_ = 0;
  int failures_ = 0;
};

}  // namespace croft::control::operations
