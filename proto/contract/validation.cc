#include "proto/contract/validation.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>
#include <string>

#include "croft/v1/account.pb.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/site.pb.h"
#include "croft/v1/store.pb.h"
#include "proto/base/error.h"
#include "proto/contract/field_rules.h"
#include "proto/contract/operator_validation.h"
#include "proto/contract/reference_rules.h"
#include "proto/contract/resource_name.h"
#include "proto/contract/settings_validation.h"
#include "proto/contract/site_validation.h"
#include "proto/contract/url_path.h"

namespace croft::contract {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr std::string_view kRootOrganization = "organizations/root";
constexpr std::size_t kStorePathBytesMax = 1024;
constexpr int kHomeLevelsMax = 4;
constexpr std::uint32_t kHomeFanOutMax = 1000;

std::string TextOf(const Message& resource, const char* field) {
  const auto* descriptor = resource.GetDescriptor()->FindFieldByName(field);
  return resource.GetReflection()->GetString(resource, descriptor);
}

void SetText(Message& resource, const char* field, std::string text) {
  const auto* descriptor = resource.GetDescriptor()->FindFieldByName(field);
  resource.GetReflection()->SetString(&resource, descriptor, std::move(text));
}

// The settings of a platform, farm or site; null for other types and where none are set.
const v1::Settings* SettingsOf(const Message& resource) {
  const auto* field = resource.GetDescriptor()->FindFieldByName("settings");
  if (field == nullptr || !resource.GetReflection()->HasField(resource, field)) {
    return nullptr;
  }
  return static_cast<const v1::Settings*>(&resource.GetReflection()->GetMessage(resource, field));
}

void NormalizeOwner(Message& resource, ResourceType type) {
  if (type == ResourceType::kPlatform || type == ResourceType::kToken ||
      (type == ResourceType::kOrganization && TextOf(resource, "name") == kRootOrganization)) {
    return;
  }
  const std::string owner = TextOf(resource, "organization");
  if (owner.empty()) {
    SetText(resource, "organization", std::string(kRootOrganization));
  }
}

void ValidateOwner(const Message& resource, ResourceType type, ViolationList& violations) {
  if (type == ResourceType::kPlatform || type == ResourceType::kToken) {
    return;  // a token's is its operator's
  }
  const std::string field = fmt::format("{}.organization", Facts(type).noun);
  const std::string owner = TextOf(resource, "organization");
  if (type == ResourceType::kOrganization && TextOf(resource, "name") == kRootOrganization) {
    if (!owner.empty()) {
      violations.Add(field, owner, "has to be empty: organizations/root is the tree's root");
    }
    return;
  }
  if (CheckCanonical(field, owner, ParseReference(owner, ResourceType::kOrganization),
                     violations) &&
      type == ResourceType::kOrganization && owner == TextOf(resource, "name")) {
    violations.Add(field, owner, "is the organization itself; name its parent");
  }
}

absl::StatusOr<std::string> ParseStorePath(std::string_view text) {
  auto path = ParseConfiguredPath(text);
  if (!path.ok()) {
    return path;
  }
  constexpr std::array<std::string_view, 7> kForbidden = {"/proc", "/sys",  "/dev",          "/etc",
                                                          "/run",  "/boot", "/var/lib/croft"};
  const auto is_in = [&](std::string_view tree) {
    return path->substr(0, tree.size()) == tree &&
           (path->size() == tree.size() || (*path)[tree.size()] == '/');
  };
  if (*path == "/" || std::any_of(kForbidden.begin(), kForbidden.end(), is_in)) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "path \"{}\": a store can be neither \"/\" nor in {}", Shorten(text),
                 fmt::join(kForbidden, ", "));
  }
  if (path->size() > kStorePathBytesMax) {
    return Error(absl::StatusCode::kInvalidArgument, "path \"{}\": it is longer than {} bytes",
                 Shorten(text, 60), kStorePathBytesMax);
  }
  return path;
}

void NormalizeStore(v1::FileStore& store) {
  Canonicalize(ParseStorePath(store.path()), *store.mutable_path());
  if (store.has_homes()) {
    Canonicalize(ParseRelativePath(store.homes().path()), *store.mutable_homes()->mutable_path());
  }
}

void ValidateStore(const v1::FileStore& store, ViolationList& violations) {
  if (!store.path().empty()) {
    CheckCanonical("store.path", store.path(), ParseStorePath(store.path()), violations);
  }
  if (!store.has_homes()) {
    return;
  }
  const v1::HomeLayout& homes = store.homes();
  CheckCanonical("store.homes.path", homes.path(), ParseRelativePath(homes.path()), violations);
  if (homes.fan_out().empty() || homes.fan_out_size() > kHomeLevelsMax) {
    violations.Add("store.homes.fan_out", std::to_string(homes.fan_out_size()),
                   fmt::format("has to have 1 to {} levels, such as 75,50", kHomeLevelsMax));
  }
  for (int i = 0; i < homes.fan_out_size(); ++i) {
    if (homes.fan_out(i) < 1 || homes.fan_out(i) > kHomeFanOutMax) {
      violations.Add(fmt::format("store.homes.fan_out[{}]", i), std::to_string(homes.fan_out(i)),
                     fmt::format("has to be 1 to {}", kHomeFanOutMax));
    }
  }
}

void ValidateAccount(const v1::Account& account, ViolationList& violations) {
  const auto name = ParseResourceName(account.name(), ResourceType::kAccount);
  const ReferenceRules references(name.ok() ? name->farm : "", violations);
  if (account.has_home() && account.home().store().empty() && !account.home().path().empty()) {
    violations.Add("account.home.store", "", "is required beside home.path");
  } else if (account.has_home()) {
    references.CheckRoot("account.home", account.home());
  }
}

// What an unspecified state means is written out, so that it is shown.
void NormalizeState(Message& resource) {
  for (const char* name : {"state", "start_mode"}) {
    const auto* field = resource.GetDescriptor()->FindFieldByName(name);
    const auto* reflection = resource.GetReflection();
    if (field != nullptr && reflection->GetEnumValue(resource, field) == 0) {
      reflection->SetEnumValue(&resource, field, 1);
    }
  }
}

}  // namespace

void Normalize(Message& resource) {
  const ResourceType type = TypeOf(resource);
  std::string name = TextOf(resource, "name");
  Canonicalize(ParseReference(name, type), name);
  SetText(resource, "name", std::move(name));
  NormalizeOwner(resource, type);
  if (SettingsOf(resource) != nullptr) {
    const auto* field = resource.GetDescriptor()->FindFieldByName("settings");
    NormalizeSettings(
        static_cast<v1::Settings&>(*resource.GetReflection()->MutableMessage(&resource, field)));
  }
  NormalizeState(resource);
  if (type == ResourceType::kSite) {
    NormalizeSite(static_cast<v1::Site&>(resource));
  } else if (type == ResourceType::kStore) {
    NormalizeStore(static_cast<v1::FileStore&>(resource));
  } else if (type == ResourceType::kAccount) {
    auto& account = static_cast<v1::Account&>(resource);
    if (account.has_home()) {
      NormalizeRoot(*account.mutable_home());
    }
  } else if (type == ResourceType::kOperator) {
    NormalizeOperator(static_cast<v1::Operator&>(resource));
  } else if (type == ResourceType::kToken) {
    NormalizeToken(static_cast<v1::Token&>(resource));
  }
}

std::vector<v1::FieldViolation> Validate(const Message& resource) {
  const ResourceType type = TypeOf(resource);
  const std::string noun(Facts(type).noun);
  ViolationList violations;
  const std::string name = TextOf(resource, "name");
  CheckCanonical(noun + ".name", name, ParseReference(name, type), violations);
  ValidateOwner(resource, type, violations);
  CheckFieldRules(resource, noun, violations);
  if (type == ResourceType::kSite) {
    ValidateSite(static_cast<const v1::Site&>(resource), violations);
  } else if (type == ResourceType::kStore) {
    ValidateStore(static_cast<const v1::FileStore&>(resource), violations);
  } else if (type == ResourceType::kAccount) {
    ValidateAccount(static_cast<const v1::Account&>(resource), violations);
  } else if (type == ResourceType::kOperator) {
    ValidateOperator(static_cast<const v1::Operator&>(resource), violations);
  } else if (type == ResourceType::kToken) {
    ValidateToken(static_cast<const v1::Token&>(resource), violations);
  }
  if (const v1::Settings* settings = SettingsOf(resource)) {
    ValidateSettings(*settings, noun + ".settings", violations);
  }
  return violations.Take();
}

}  // namespace croft::contract
