#include "control/domain/row_filter.h"

#include <algorithm>

namespace croft::control::domain {

absl::StatusOr<RowFilter> RowFilter::Parse(std::string_view text, contract::ResourceType type,
                                           store::Store& store, Access& access) {
  auto filter = contract::Filter::Parse(text, type);
  if (!filter.ok()) {
    return filter.status();
  }
  std::map<std::string, std::int64_t, std::less<>> subtrees;
  for (const std::string& name : filter->Subtrees()) {
    const auto found = store.Find(name);
    if (!found.ok()) {
      return found.status();
    }
    if (found->has_value() && (*found)->type == contract::ResourceType::kOrganization) {
      subtrees.emplace(name, (*found)->uid);
    }
  }
  return RowFilter(*std::move(filter), std::move(subtrees), access);
}

absl::StatusOr<bool> RowFilter::Matches(const store::StoredResource& row,
                                        const google::protobuf::Message& resource) {
  absl::StatusOr<OrganizationPath> path = OrganizationPath();
  if (!subtrees_.empty() && row.organization_uid != 0) {
    path = access_->FindPath(row.organization_uid, row.organization, nullptr);
    if (!path.ok()) {
      return path.status();
    }
  }
  return filter_.Matches(resource, [&](std::string_view /*the row's*/, std::string_view above) {
    const auto found = subtrees_.find(above);
    return found != subtrees_.end() &&
           std::find(path->begin(), path->end(), found->second) != path->end();
  });
}

}  // namespace croft::control::domain
