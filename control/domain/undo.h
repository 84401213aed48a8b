// Undoing a change: a new one, in which the resources that the old one touched become what they
// were before it. What was created is deleted, what was changed has its body of before, what was
// deleted is undeleted: everything or nothing.
#pragma once

#include <absl/status/statusor.h>

#include "control/domain/resources.h"
#include "croft/v1/change.pb.h"

namespace croft::control::domain {

// Beyond this many resources the caller has to say how many there are.
inline constexpr std::int64_t kUndoneWithoutCount = 100;

// What the caller may not see is not undone. The answer's revision is the new change's; its results
// are in the order of the old one. Of the request only what is to be undone is read; `options` has
// the rest.
absl::StatusOr<v1::UndoChangeResponse> UndoChange(store::Store& store, Access& access,
                                                  const Caller& caller,
                                                  const v1::UndoChangeRequest& request,
                                                  const WriteOptions& options);

}  // namespace croft::control::domain
