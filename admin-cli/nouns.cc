#include "admin-cli/nouns.h"

#include <google/protobuf/descriptor.h>

#include "croft/v1/account.pb.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/node.pb.h"
#include "croft/v1/operator.pb.h"
#include "croft/v1/organization.pb.h"
#include "croft/v1/pool.pb.h"
#include "croft/v1/store.pb.h"
#include "proto/base/check.h"
#include "proto/base/error.h"

namespace croft::admin_cli {

using contract::ResourceType;

namespace {

std::vector<Noun> NounsOfThePlatform() {
  return {
      {"platform",
       "croft.v1.Platform",
       "FarmService",
       "Platform",
       ResourceType::kPlatform,
       {{"NAME", "name"}, {"REVISION", "revision"}}},
      {"organization",
       "croft.v1.Organization",
       "OrganizationService",
       "Organization",
       ResourceType::kOrganization,
       {{"NAME", "name"}, {"PARENT", "organization"}, {"DISPLAY NAME", "display_name"}}},
      {"operator",
       "croft.v1.Operator",
       "OperatorService",
       "Operator",
       ResourceType::kOperator,
       {{"NAME", "name"},
        {"ORGANIZATION", "organization"},
        {"GRANTS", "grants"},
        {"DISABLED", "disabled"},
        {"DISPLAY NAME", "display_name", true}}},
      {"token",
       "croft.v1.Token",
       "TokenService",
       "Token",
       ResourceType::kToken,
       {{"NAME", "name"},
        {"OPERATOR", "operator"},
        {"EXPIRES", "expire_time"},
        {"ORGANIZATION", "organization", true}}},
      {"farm",
       "croft.v1.Farm",
       "FarmService",
       "Farm",
       ResourceType::kFarm,
       {{"NAME", "name"}, {"REVISION", "revision"}, {"ORGANIZATION", "organization", true}}},
  };
}

std::vector<Noun> NounsOfAFarm() {
  return {
      {"node",
       "croft.v1.Node",
       "NodeService",
       "Node",
       ResourceType::kNode,
       {{"NAME", "name"},
        {"CONNECTION", "status.connection"},
        {"DRAINING", "draining"},
        {"SENT", "status.sent_revision"},
        {"APPLIED", "status.applied_revision"},
        {"SERVING", "status.serving_revision"},
        {"PROBLEM", "status.problem"},
        {"VERSION", "status.version", true},
        {"ENDPOINTS", "status.endpoints", true}}},
      {"site",
       "croft.v1.Site",
       "SiteService",
       "Site",
       ResourceType::kSite,
       {{"NAME", "name"},
        {"STATE", "state"},
        {"BINDINGS", "bindings"},
        {"REVISION", "revision"},
        {"ORGANIZATION", "organization", true}}},
      {"pool",
       "croft.v1.ApplicationPool",
       "PoolService",
       "Pool",
       ResourceType::kPool,
       {{"NAME", "name"},
        {"STATE", "state"},
        {"START MODE", "start_mode"},
        {"IDENTITY", "identity"},
        {"REVISION", "revision"},
        {"ORGANIZATION", "organization", true}}},
      {"store",
       "croft.v1.FileStore",
       "StoreService",
       "Store",
       ResourceType::kStore,
       {{"NAME", "name"},
        {"PATH", "path"},
        {"FAN-OUT", "homes.fan_out"},
        {"REVISION", "revision"}}},
      {"account",
       "croft.v1.Account",
       "AccountService",
       "Account",
       ResourceType::kAccount,
       {{"NAME", "name"},
        {"STATE", "state"},
        {"STORE", "home.store"},
        {"HOME", "home.path"},
        {"ORGANIZATION", "organization", true},
        {"REVISION", "revision", true}}},
  };
}

std::vector<Noun> MakeNouns() {
  std::vector<Noun> nouns = NounsOfThePlatform();
  for (const Noun& noun : NounsOfAFarm()) {
    nouns.push_back(noun);
  }
  return nouns;
}

}  // namespace

const std::vector<Noun>& AllNouns() {
  static const std::vector<Noun> nouns = MakeNouns();
  return nouns;
}

absl::StatusOr<const Noun*> FindNoun(std::string_view text) {
  std::string list;
  for (const Noun& noun : AllNouns()) {
    const std::string singular(noun.noun);
    if (text == singular || text == singular + "s") {
      return &noun;
    }
    list += (list.empty() ? "" : ", ") + singular;
  }
  return Error(absl::StatusCode::kUnimplemented, "no type \"{}\"; there are: {}", text, list);
}

MessagePtr NewMessage(std::string_view full_name) {
  // Naming one message of each file keeps the linker from leaving the file's descriptors out.
  static const bool linked = v1::Account::descriptor() != nullptr && v1::Farm::descriptor() &&
                             v1::Node::descriptor() && v1::Organization::descriptor() &&
                             v1::ApplicationPool::descriptor() && v1::FileStore::descriptor();
  const auto* pool = google::protobuf::DescriptorPool::generated_pool();
  const auto* type = linked ? pool->FindMessageTypeByName(std::string(full_name)) : nullptr;
  Check(type != nullptr, "a message named by the command line exists");
  return MessagePtr(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(type)->New());
}

MessagePtr NewResource(const Noun& noun) { return NewMessage(noun.message); }

std::string FullName(const Noun& noun, std::string_view name, std::string_view farm) {
  if (noun.type == ResourceType::kPlatform) {
    return "platform";
  }
  if (name.find('/') != std::string_view::npos) {
    return std::string(name);
  }
  const contract::ResourceTypeFacts& facts = contract::Facts(noun.type);
  std::string full;
  if (facts.in_farm) {
    full = "farms/" + std::string(farm) + "/";
  }
  return full + std::string(facts.collection) + "/" + std::string(name);
}

std::string FarmOf(std::string_view full_name) {
  constexpr std::string_view kFarms = "farms/";
  if (!full_name.starts_with(kFarms)) {
    return "";
  }
  full_name.remove_prefix(kFarms.size());
  return std::string(full_name.substr(0, full_name.find('/')));
}

std::string_view ShortName(std::string_view name) {
  const auto slash = name.rfind('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

}  // namespace croft::admin_cli
