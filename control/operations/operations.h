// The use cases of operations: start one, look at it, ask for its end. An operation belongs to the
// organization of the operator who started it, and exists for who may read that, and for that
// operator. Thread-safe; blocks on the store.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "control/domain/resources.h"
#include "control/store/store.h"
#include "croft/v1/operation.pb.h"
#include "croft/v1/resource.pb.h"

namespace croft::control::operations {

class Operations {
 public:
  Operations(store::Store& store, domain::Access& access) : store_(store), access_(access) {}

  // Checks what can be checked by bounded work, and leaves the rest to a Worker. validate_only: the
  // answer has no name, and the errors of the first items. The options are the request's.
  absl::StatusOr<v1::Operation> Start(const domain::Caller& caller,
                                      v1::UpdateResourcesRequest request, bool deletes,
                                      const domain::WriteOptions& options);
  // not_found for what the caller may not see.
  absl::StatusOr<store::StoredOperation> Find(const domain::Caller& caller,
                                              const std::string& name);
  // Without their errors.
  absl::StatusOr<v1::ListOperationsResponse> List(const domain::Caller& caller,
                                                  const v1::ListOperationsRequest& request);
  // For its operator, and whoever may change the organization. One that has ended stays as it is.
  absl::StatusOr<v1::Operation> Cancel(const domain::Caller& caller, const std::string& name,
                                       const domain::WriteOptions& options);

 private:
  // Whose it is; nullopt for control itself.
  absl::StatusOr<std::optional<store::StoredResource>> FindOperator(const domain::Caller& caller);
  absl::StatusOr<bool> IsOwn(const domain::Caller& caller, const store::StoredOperation& operation);
  absl::Status CheckCancel(const domain::Caller& caller, const store::StoredOperation& operation);

  store::Store& store_;
  domain::Access& access_;
};

}  // namespace croft::control::operations
