// Resource names (AIP-122): "organizations/acme", "farms/main", "farms/main/sites/shop",
// "platform". Pure.
#pragma once

#include <absl/status/statusor.h>
#include <google/protobuf/message.h>

#include <span>
#include <string>
#include <string_view>

namespace croft::contract {

enum class ResourceType {
  kPlatform,
  kOrganization,
  kFarm,
  kNode,
  kStore,
  kPool,
  kSite,
  kAccount,
  kOperator,
  kToken,
};

struct ResourceTypeFacts {
  ResourceType type;
  std::string_view collection;  // "sites"
  std::string_view noun;        // "site"
  std::string_view message;     // "croft.v1.Site"
  bool in_farm;                 // its parent is a farm
};

std::span<const ResourceTypeFacts> AllResourceTypes();
const ResourceTypeFacts& Facts(ResourceType type);
// By the message's type; check fails for a message that is no resource.
ResourceType TypeOf(const google::protobuf::Message& resource);

struct ResourceName {
  ResourceType type = ResourceType::kPlatform;
  std::string farm;  // "main" for farm members, otherwise ""
  std::string id;    // last segment
};

// Canonical (lower-case account ids). The error shows the expected form.
absl::StatusOr<ResourceName> ParseResourceName(std::string_view text);
absl::StatusOr<ResourceName> ParseResourceName(std::string_view text, ResourceType expected);
std::string FormatResourceName(const ResourceName& name);

// An id as it may be chosen: [a-z0-9]([a-z0-9-]*[a-z0-9])?, 1..63 bytes; sites also "." up to 200,
// accounts by ParseAccountName.
absl::StatusOr<std::string> ParseResourceId(ResourceType type, std::string_view id);

}  // namespace croft::contract
