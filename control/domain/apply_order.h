// The resources of a request that writes many: named, each once, and in the order in which they can
// be written. Pure.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "control/domain/resource_message.h"
#include "croft/v1/resource.pb.h"
#include "proto/contract/resource_name.h"

namespace croft::control::domain {

inline constexpr int kApplyResourcesMax = 1000;

// What may be named by others comes before them: organizations, farms, nodes, stores, pools, sites,
// accounts, operators, tokens.
int CreationRank(contract::ResourceType type);
// Nothing but the resource itself needs it, so that it can go first.
bool IsNeededByOthers(contract::ResourceType type);

struct ApplyItem {
  int index = 0;  // in the request
  contract::ResourceType type = contract::ResourceType::kSite;
  std::string name;  // canonical
  MessagePtr input;  // with that name
};

// In the order of creation; an organization comes after its parent. invalid_argument with a
// violation for each resource without a good name of its own.
absl::StatusOr<std::vector<ApplyItem>> OrderItems(
    const google::protobuf::RepeatedPtrField<v1::Resource>& resources);

// "resources[3]"
std::string PlaceOf(const ApplyItem& item);

}  // namespace croft::control::domain
