// What was changed, by whom and how: one change with its resources, one resource with its versions.
// Blocking (the store's); thread-safe. What the caller may not see is left out, also of counts; a
// change or a resource of which nothing is left is not found.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <string>

#include "control/domain/access.h"
#include "control/store/store.h"
#include "croft/v1/change.pb.h"

namespace croft::control::domain {

absl::StatusOr<v1::GetChangeResponse> GetChange(store::Store& store, Access& access,
                                                const Caller& caller,
                                                const v1::GetChangeRequest& request);
absl::StatusOr<v1::ListHistoryResponse> ListHistory(store::Store& store, Access& access,
                                                    const Caller& caller,
                                                    const v1::ListHistoryRequest& request);

// "create", "update", "delete", "undelete"
std::string NameOf(store::VersionAction action);
// "change 7"
std::string NameOfChange(std::int64_t revision);
// The change, without its resources; not_found if there is none.
absl::StatusOr<v1::Change> FindChange(store::Store& store, std::int64_t revision);
// Calls `visit` for what the change did to every resource that the caller may see, in the log's
// order.
absl::Status ForEachVersion(store::Store& store, Access& access, const Caller& caller,
                            std::int64_t revision,
                            const std::function<void(store::Version)>& visit);

}  // namespace croft::control::domain
