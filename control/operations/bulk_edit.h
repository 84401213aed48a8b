// What an operation does to resources: counts those that its filter selects, then updates or
// deletes them batch by batch, each item by itself. Nothing here commits; how far it came is noted
// in the operation, which the caller saves with the batch. Of one step; one thread; blocks on the
// store.
#pragma once

#include <absl/status/statusor.h>

#include <vector>

#include "control/domain/access.h"
#include "control/domain/selection.h"
#include "control/store/store.h"
#include "croft/v1/resource.pb.h"

namespace croft::control::operations {

// Items of one change.
inline constexpr int kBatchItems = 500;
// Rows that a batch, or a step of counting, looks at.
inline constexpr int kExaminedMax = 20'000;
// Errors that are kept; the others are counted.
inline constexpr int kErrorsKept = 100;
// From here on the caller has to know how many there are.
inline constexpr std::int64_t kCountRequiredAbove = 100;

// Whether the same attempt may go well later: it is the database's failure, not the item's.
bool MayPass(const absl::Status& status);

struct Batch {
  std::vector<store::StoredResource> rows;
  bool more = false;    // there may be more after it
  bool beyond = false;  // there is more than was counted
};

class BulkEdit {
 public:
  // `request` is checked by itself. All that is given must outlive it.
  static absl::StatusOr<BulkEdit> Open(store::Store& store, domain::Access& access,
                                       const domain::Caller& caller,
                                       const store::StoredOperation& operation);

  // Counts on from the cursor. At the end the cursor is at the beginning again, and `counting`
  // false. failed_precondition when there are more or fewer than the request expects.
  absl::Status Count(int examined_max, store::StoredOperation& operation);
  // The next items; the cursor moves past them.
  absl::StatusOr<Batch> Read(store::StoredOperation& operation);
  // Does it, noting what failed. True when a resource was changed. An error is the transaction's:
  // nothing of the batch is to be kept.
  absl::StatusOr<bool> Apply(store::Transaction& transaction, const Batch& batch,
                             store::StoredOperation& operation);

 private:
  enum class Outcome { kChanged, kUnchanged, kPassed };

  BulkEdit(store::Store& store, domain::Access& access, const domain::Caller& caller,
           domain::Selection selection)
      : store_(store), access_(access), caller_(caller), selection_(std::move(selection)) {}

  absl::Status CheckCount(const store::StoredOperation& operation) const;
  absl::StatusOr<Outcome> ApplyTo(store::Transaction& transaction,
                                  const store::StoredResource& row);
  absl::Status Edit(store::Transaction& transaction, const store::StoredResource& row,
                    Outcome& outcome);

  store::Store& store_;
  domain::Access& access_;
  const domain::Caller& caller_;
  domain::Selection selection_;
  v1::UpdateResourcesRequest request_;
  contract::ResourceType type_ = contract::ResourceType::kSite;
  bool deletes_ = false;
};

// The request as it is kept: its type is one, and what it sets are fields of that type.
// invalid_argument otherwise.
absl::Status CheckRequest(bool deletes, v1::UpdateResourcesRequest& request);

}  // namespace croft::control::operations
