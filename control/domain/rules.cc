#include "control/domain/rules.h"

namespace croft::control::domain {

using contract::ResourceType;

absl::Status ApplyRules(const RuleContext& context, google::protobuf::Message& resource,
                        store::StoredResource& row, Links& links) {
  switch (row.type) {
    case ResourceType::kSite:
      return ApplySiteRules(context, static_cast<const v1::Site&>(resource), links);
    case ResourceType::kAccount:
      return ApplyAccountRules(context, static_cast<v1::Account&>(resource), row);
    case ResourceType::kPool:
      return ApplyPoolRules(context, static_cast<v1::ApplicationPool&>(resource), row);
    case ResourceType::kPlatform:
    case ResourceType::kOrganization:
    case ResourceType::kFarm:
    case ResourceType::kNode:
    case ResourceType::kStore:
    case ResourceType::kOperator:
    case ResourceType::kToken:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace croft::control::domain
