// The types of instances that have counters, by name and as resources.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "control/store/store.h"
#include "proto/contract/counters.h"

namespace croft::control::reports {

using contract::counters::InstanceType;

// What is shown where no counter is named.
inline constexpr std::string_view kTopCounter = "requests_total";

absl::StatusOr<InstanceType> ParseType(const std::string& name);

// The resource type whose uid an instance of the type carries; a worker's is its node.
store::ResourceType ResourceOf(InstanceType type);

}  // namespace croft::control::reports
