#include "control/domain/selection.h"

#include <algorithm>

#include "control/domain/failures.h"
#include "control/domain/resource_message.h"

namespace croft::control::domain {

absl::StatusOr<std::int64_t> FindParentFarm(store::Store& store, contract::ResourceType type,
                                            const std::string& parent) {
  if (!contract::Facts(type).in_farm || parent == "farms/-") {
    return 0;
  }
  const auto name = contract::ParseResourceName(parent, contract::ResourceType::kFarm);
  if (!name.ok()) {
    return InvalidField("parent", parent, std::string(name.status().message()));
  }
  const std::string canonical = contract::FormatResourceName(*name);
  const auto farm = store.Find(canonical);
  if (!farm.ok()) {
    return farm.status();
  }
  return farm->has_value() ? absl::StatusOr<std::int64_t>((*farm)->uid) : NotFound(canonical);
}

absl::StatusOr<Selection> Selection::Open(store::Store& store, Access& access, const Caller& caller,
                                          const SelectionRequest& request) {
  const auto farm_uid = FindParentFarm(store, request.type, request.parent);
  if (!farm_uid.ok()) {
    return farm_uid.status();
  }
  auto filter = RowFilter::Parse(request.filter, request.type, store, access);
  if (!filter.ok()) {
    return filter.status();
  }
  return Selection(store, *std::move(filter),
                   {.type = request.type,
                    .farm_uid = *farm_uid,
                    .within = Access::VisibleOrganizations(caller, request.type)});
}

absl::StatusOr<bool> Selection::Matches(const store::StoredResource& row) {
  const MessagePtr message = NewMessage(row.type);
  ParseRow(row, *message);  // an unreadable one has the fields that every resource has
  return filter_.Matches(row, *message);
}

absl::StatusOr<bool> Selection::Walk(int examined_max, SelectionCursor& cursor,
                                     const std::function<bool(store::StoredResource&)>& take) {
  constexpr int kRowsAtOnce = 500;
  store::ListQuery query = query_;
  query.filter = filter_.query();
  for (int examined = 0; examined < examined_max; examined += query.limit) {
    query.limit = std::min(kRowsAtOnce, examined_max - examined);
    query.after_name = cursor.name;
    query.after_uid = cursor.uid;
    auto rows = store_->List(query);
    if (!rows.ok()) {
      return rows.status();
    }
    for (store::StoredResource& row : *rows) {
      const auto matches = Matches(row);
      if (!matches.ok()) {
        return matches.status();
      }
      cursor = {.name = row.name, .uid = row.uid};
      if (*matches && !take(row)) {
        return true;
      }
    }
    if (std::ssize(*rows) < query.limit) {
      return false;
    }
  }
  return true;
}

}  // namespace croft::control::domain
