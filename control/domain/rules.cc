#include "control/domain/rules.h"

namespace croft::control::domain {

using contract::ResourceType;

absl::Status WriteLinks(store::Transaction& transaction, const store::StoredResource& row,
                        const Links& links) {
  absl::Status status;
  if (!links.bindings.empty()) {
    status = transaction.SetBindings(row.farm_uid, row.uid, links.bindings);
  }
  if (status.ok() && !links.references.empty()) {
    status = transaction.SetReferences(row, links.references);
  }
  return status;
}

absl::Status ApplyRules(const RuleContext& context, google::protobuf::Message& resource,
                        store::StoredResource& row, Links& links) {
  switch (row.type) {
    case ResourceType::kSite:
      return ApplySiteRules(context, static_cast<const v1::Site&>(resource), row, links);
    case ResourceType::kAccount:
      return ApplyAccountRules(context, static_cast<v1::Account&>(resource), row);
    case ResourceType::kPool:
      return ApplyPoolRules(context, static_cast<v1::ApplicationPool&>(resource), row);
    case ResourceType::kOperator:
      return ApplyOperatorRules(context, static_cast<const v1::Operator&>(resource), row, links);
    case ResourceType::kToken:
      return ApplyTokenRules(context, static_cast<const v1::Token&>(resource), row, links);
    case ResourceType::kPlatform:
    case ResourceType::kOrganization:
    case ResourceType::kFarm:
    case ResourceType::kNode:
    case ResourceType::kStore:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace croft::control::domain
