// What an apply removes: what labels select among the types and in the farms that it applies to,
// and is not in it.
#pragma once

#include <absl/status/statusor.h>

#include <vector>

#include "control/domain/apply_order.h"
#include "control/domain/rules.h"

namespace croft::control::domain {

// As they are now, in the order of removal; only what the caller sees. Refused
// (failed_precondition, reason COUNT_MISMATCH) where they are not as many as the request expects,
// naming the first few; a request that only validates need not expect any.
absl::StatusOr<std::vector<store::StoredResource>> FindPruned(
    const RuleContext& context, const v1::ApplyResourcesRequest& request,
    const std::vector<ApplyItem>& items);

}  // namespace croft::control::domain
