// One write: answered from memory when its request id is known, tried again when another
// transaction came first, rolled back when it only validates.
#pragma once

#include <functional>

#include "control/domain/resources.h"
#include "control/store/store.h"

namespace croft::control::domain {

struct WriteRequest {
  const Caller& caller;
  const WriteOptions& options;
  // Of the answer's type, which has a field `revision`: a resource, or a method's own response.
  const google::protobuf::Message& prototype;
};

// What a caller may ask of any write; Write judges them by itself.
absl::Status CheckOptions(const WriteOptions& options);

v1::Counts CountCreated();
v1::Counts CountUpdated();
v1::Counts CountUnchanged();
v1::Counts CountDeleted();

// `work` may run more than once, each time in a transaction of its own. Its answer has all fields
// but the revision, which Commit draws; where it counts nothing created, updated or deleted,
// nothing is committed.
absl::StatusOr<Written> Write(
    store::Store& store, const WriteRequest& request,
    const std::function<absl::StatusOr<Written>(store::Transaction&)>& work);

}  // namespace croft::control::domain
