#include "control/domain/apply_order.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "control/domain/failures.h"
#include "proto/base/error.h"
#include "proto/contract/any_resource.h"
#include "proto/contract/errors.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;

constexpr auto kCreationOrder = std::to_array<ResourceType>(
    {ResourceType::kPlatform, ResourceType::kOrganization, ResourceType::kFarm, ResourceType::kNode,
     ResourceType::kStore, ResourceType::kPool, ResourceType::kSite, ResourceType::kAccount,
     ResourceType::kOperator, ResourceType::kToken});
// Deeper trees of organizations are a circle, which the missing parent then tells.
constexpr int kDepthMax = 1000;

// How many of an organization's parents are in the request too.
using Parents = std::unordered_map<std::string, std::string>;

int DepthOf(const Parents& parents, const std::string& name) {
  int depth = 0;
  for (auto at = parents.find(name); at != parents.end() && depth < kDepthMax;
       at = parents.find(at->second)) {
    ++depth;
  }
  return depth;
}

absl::StatusOr<ApplyItem> ReadItem(const v1::Resource& resource, int index) {
  ApplyItem item;
  item.index = index;
  const google::protobuf::Message* message = contract::Unwrap(resource);
  if (message == nullptr) {
    return InvalidField(PlaceOf(item), "", "holds no resource; set the one of its fields that is");
  }
  item.type = contract::TypeOf(*message);
  const std::string given = GetText(*message, "name");
  const auto name = contract::ParseResourceName(given, item.type);
  if (!name.ok()) {
    return InvalidField(fmt::format("{}.{}.name", PlaceOf(item), contract::Facts(item.type).noun),
                        given, contract::MessageOf(name.status()));
  }
  item.name = contract::FormatResourceName(*name);
  item.input = Copy(*message);
  SetText(*item.input, "name", item.name);
  return item;
}

}  // namespace

int CreationRank(ResourceType type) {
  return static_cast<int>(std::ranges::find(kCreationOrder, type) - kCreationOrder.begin());
}

bool IsNeededByOthers(ResourceType type) {
  return CreationRank(type) < CreationRank(ResourceType::kSite) || type == ResourceType::kOperator;
}

std::string PlaceOf(const ApplyItem& item) { return fmt::format("resources[{}]", item.index); }

absl::StatusOr<std::vector<ApplyItem>> OrderItems(
    const google::protobuf::RepeatedPtrField<v1::Resource>& resources) {
  std::vector<v1::FieldViolation> violations;
  std::vector<ApplyItem> items;
  std::unordered_map<std::string, int> places;
  Parents parents;
  for (int i = 0; i < resources.size(); ++i) {
    auto item = ReadItem(resources[i], i);
    if (!item.ok()) {
      const auto detail = contract::FindDetail(item.status());
      violations.insert(violations.end(), detail->violations().begin(), detail->violations().end());
      continue;
    }
    const auto [first, is_first] = places.emplace(item->name, i);
    if (!is_first) {
      violations.push_back(MakeViolation(
          fmt::format("{}.{}.name", PlaceOf(*item), contract::Facts(item->type).noun), item->name,
          fmt::format("is resources[{}] already; leave one of them out", first->second)));
      continue;
    }
    if (item->type == ResourceType::kOrganization) {
      parents[item->name] = GetText(*item->input, "organization");
    }
    items.push_back(*std::move(item));
  }
  if (absl::Status status = contract::InvalidFields(violations); !status.ok()) {
    return status;
  }
  std::map<std::string, int> depths;
  for (const auto& [name, parent] : parents) {
    depths[name] = DepthOf(parents, name);
  }
  const auto key = [&depths](const ApplyItem& item) {
    const auto depth = depths.find(item.name);
    return std::tuple(CreationRank(item.type), depth == depths.end() ? 0 : depth->second,
                      std::string_view(item.name));
  };
  std::ranges::sort(items, {}, key);
  return items;
}

}  // namespace croft::control::domain
