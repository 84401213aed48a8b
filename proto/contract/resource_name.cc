#include "proto/contract/resource_name.h"

#include <algorithm>
#include <array>

#include "proto/base/check.h"
#include "proto/base/error.h"
#include "proto/contract/account_name.h"
#include "proto/contract/text_rules.h"

namespace croft::contract {
namespace {

constexpr std::size_t kIdBytesMax = 63;
constexpr std::size_t kSiteIdBytesMax = 200;

constexpr std::array<ResourceTypeFacts, 10> kTypes = {{
    {ResourceType::kPlatform, "", "platform", "croft.v1.Platform", false},
    {ResourceType::kOrganization, "organizations", "organization", "croft.v1.Organization", false},
    {ResourceType::kFarm, "farms", "farm", "croft.v1.Farm", false},
    {ResourceType::kNode, "nodes", "node", "croft.v1.Node", true},
    {ResourceType::kStore, "stores", "store", "croft.v1.FileStore", true},
    {ResourceType::kPool, "pools", "pool", "croft.v1.ApplicationPool", true},
    {ResourceType::kSite, "sites", "site", "croft.v1.Site", true},
    {ResourceType::kAccount, "accounts", "account", "croft.v1.Account", true},
    {ResourceType::kOperator, "operators", "operator", "croft.v1.Operator", false},
    {ResourceType::kToken, "tokens", "token", "croft.v1.Token", false},
}};

const ResourceTypeFacts* FindCollection(std::string_view collection, bool in_farm) {
  for (const ResourceTypeFacts& facts : kTypes) {
    if (facts.type != ResourceType::kPlatform && facts.collection == collection &&
        facts.in_farm == in_farm) {
      return &facts;
    }
  }
  return nullptr;
}

std::string ExpectedForm(const ResourceTypeFacts& facts) {
  if (facts.type == ResourceType::kPlatform) {
    return "platform";
  }
  return facts.in_farm ? fmt::format("farms/{{farm}}/{}/{{{}}}", facts.collection, facts.noun)
                       : fmt::format("{}/{{{}}}", facts.collection, facts.noun);
}

absl::Status BadName(std::string_view text, std::string_view expected) {
  return Error(absl::StatusCode::kInvalidArgument, "\"{}\" is no resource name; expected \"{}\"",
               Shorten(text), expected);
}

absl::StatusOr<ResourceName> Complete(ResourceName name, std::string_view farm,
                                      std::string_view id) {
  if (!farm.empty()) {
    auto farm_id = ParseResourceId(ResourceType::kFarm, farm);
    if (!farm_id.ok()) {
      return farm_id.status();
    }
    name.farm = *std::move(farm_id);
  }
  auto parsed = ParseResourceId(name.type, id);
  if (!parsed.ok()) {
    return parsed.status();
  }
  name.id = *std::move(parsed);
  return name;
}

}  // namespace

std::span<const ResourceTypeFacts> AllResourceTypes() { return kTypes; }

const ResourceTypeFacts& Facts(ResourceType type) { return kTypes[static_cast<std::size_t>(type)]; }

ResourceType TypeOf(const google::protobuf::Message& resource) {
  const std::string& full_name = resource.GetDescriptor()->full_name();
  const auto* found = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](const auto& facts) { return facts.message == full_name; });
  Check(found != kTypes.end(), "TypeOf: the message is no resource");
  return found->type;
}

absl::StatusOr<ResourceName> ParseResourceName(std::string_view text) {
  if (text == "platform") {
    return ResourceName{ResourceType::kPlatform, "", "platform"};
  }
  const std::vector<std::string_view> parts = Split(text, '/');
  if (parts.size() == 2) {
    if (const auto* facts = FindCollection(parts[0], false)) {
      return Complete({facts->type, "", ""}, "", parts[1]);
    }
  }
  if (parts.size() == 4 && parts[0] == "farms" && !parts[1].empty()) {
    if (const auto* facts = FindCollection(parts[2], true)) {
      return Complete({facts->type, "", ""}, parts[1], parts[3]);
    }
  }
  return BadName(
      text,
      "farms/{farm}/{nodes|stores|pools|sites|accounts}/{id}\", \"farms/{farm}\", "
      "\"organizations/{organization}\", \"operators/{operator}\", \"tokens/{token}\" or "
      "\"platform");
}

absl::StatusOr<ResourceName> ParseResourceName(std::string_view text, ResourceType expected) {
  const ResourceTypeFacts& facts = Facts(expected);
  const std::size_t slashes = static_cast<std::size_t>(std::count(text.begin(), text.end(), '/'));
  const bool has_form = slashes == (expected == ResourceType::kPlatform ? 0U
                                    : facts.in_farm                     ? 3U
                                                                        : 1U);
  if (!has_form) {
    return BadName(text, ExpectedForm(facts));
  }
  auto name = ParseResourceName(text);
  if (name.ok() && name->type == expected) {
    return name;
  }
  const bool right_collection =
      expected != ResourceType::kPlatform &&
      text.find(fmt::format("{}/", facts.collection)) != std::string_view::npos;
  return !name.ok() && right_collection ? name.status() : BadName(text, ExpectedForm(facts));
}

std::string FormatResourceName(const ResourceName& name) {
  const ResourceTypeFacts& facts = Facts(name.type);
  if (name.type == ResourceType::kPlatform) {
    return "platform";
  }
  return facts.in_farm ? fmt::format("farms/{}/{}/{}", name.farm, facts.collection, name.id)
                       : fmt::format("{}/{}", facts.collection, name.id);
}

absl::StatusOr<std::string> ParseResourceId(ResourceType type, std::string_view id) {
  if (type == ResourceType::kAccount) {
    return ParseAccountName(id);
  }
  const bool is_site = type == ResourceType::kSite;
  const std::size_t bytes_max = is_site ? kSiteIdBytesMax : kIdBytesMax;
  const auto is_edge = [](char c) { return (c >= 'a' && c <= 'z') || IsDigit(c); };
  const auto is_inner = [&](char c) { return is_edge(c) || c == '-' || (is_site && c == '.'); };
  const bool valid = !id.empty() && id.size() <= bytes_max && is_edge(id.front()) &&
                     is_edge(id.back()) && std::all_of(id.begin(), id.end(), is_inner);
  if (!valid) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "{} id \"{}\": 1 to {} of a-z, 0-9, \"-\"{}, beginning and ending with a letter "
                 "or digit",
                 Facts(type).noun, Shorten(id), bytes_max, is_site ? " and \".\"" : "");
  }
  return std::string(id);
}

}  // namespace croft::contract
