#include "control/reports/instance_types.h"

#include "proto/base/error.h"

namespace croft::control::reports {

using contract::counters::NameOf;

absl::StatusOr<InstanceType> ParseType(const std::string& name) {
  for (const InstanceType type : {InstanceType::kNode, InstanceType::kSite, InstanceType::kPool,
                                  InstanceType::kWorker, InstanceType::kStore}) {
    if (NameOf(type) == name) {
      return type;
    }
  }
  return Error(absl::StatusCode::kInvalidArgument,
               "type \"{}\" has no counters; use node, site, pool, worker or store", name);
}

store::ResourceType ResourceOf(InstanceType type) {
  switch (type) {
    case InstanceType::kSite:
      return store::ResourceType::kSite;
    case InstanceType::kPool:
      return store::ResourceType::kPool;
    case InstanceType::kStore:
      return store::ResourceType::kStore;
    case InstanceType::kNode:
    case InstanceType::kWorker:
      break;
  }
  return store::ResourceType::kNode;
}

}  // namespace croft::control::reports
