#include "control/domain/access.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <map>

#include "control/domain/failures.h"
#include "control/domain/permission_fields.h"
#include "croft/v1/operator.pb.h"
#include "proto/base/error.h"
#include "proto/contract/errors.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;
using store::StoredResource;

constexpr std::string_view kRoot = "organizations/root";
constexpr std::size_t kParentsMax = 100'000;
// The tree has no cycles, but a row changed by hand might make one.
constexpr std::size_t kDepthMax = 100;

std::string_view Describe(Action action) {
  switch (action) {
    case Action::kRead:
      return "read";
    case Action::kCreate:
      return "create";
    case Action::kUpdate:
      return "change";
    case Action::kDelete:
      return "delete";
    case Action::kUndelete:
      return "undelete";
  }
  return "";
}

// Who has what is taken, by the error's reason; empty where the error tells nothing of another.
std::string_view KindOfHolder(std::string_view reason) {
  return reason == "BINDING_TAKEN"    ? "a site"
         : reason == "HOME_TAKEN"     ? "an account"
         : reason == "IDENTITY_TAKEN" ? "a pool"
                                      : "";
}

std::string PlaceOf(const StoredResource& row, Action action) {
  if (IsInfrastructure(row.type) ||
      (row.type == ResourceType::kOrganization && row.organization.empty())) {
    return std::string(kRoot);
  }
  const bool is_its_own = row.type == ResourceType::kOrganization && action == Action::kUpdate;
  return is_its_own ? row.name : row.organization;
}

bool AllAtRoot(const Caller& caller) {
  return std::ranges::all_of(caller.grants, &ResolvedGrant::at_root);
}

}  // namespace

Caller SystemCaller(std::string who) {
  Caller caller;
  caller.who = std::move(who);
  caller.grants.push_back({.at_root = true, .role = v1::ADMINISTRATOR});
  return caller;
}

ResolvedGrant ResolveSets(const v1::Grant& grant) {
  ResolvedGrant resolved;
  resolved.at_root = grant.organization() == kRoot;
  resolved.role = grant.role();
  if (!grant.types().empty()) {
    resolved.types = 0;
    for (const contract::ResourceTypeFacts& facts : contract::AllResourceTypes()) {
      if (std::ranges::find(grant.types(), facts.noun) != grant.types().end()) {
        resolved.types |= TypeBit(facts.type);
      }
    }
  }
  for (const int permission : grant.permissions()) {
    resolved.permissions |= PermissionBit(static_cast<v1::Permission>(permission));
  }
  return resolved;
}

absl::StatusOr<std::vector<ResolvedGrant>> Access::Resolve(
    const google::protobuf::RepeatedPtrField<v1::Grant>& grants) {
  std::vector<ResolvedGrant> resolved;
  for (const v1::Grant& grant : grants) {
    const auto organization = store_.Find(grant.organization());
    if (!organization.ok()) {
      return organization.status();
    }
    if (organization->has_value()) {
      ResolvedGrant& one = resolved.emplace_back(ResolveSets(grant));
      one.organization_uid = (*organization)->uid;
    }
  }
  return resolved;
}

absl::StatusOr<Caller> Access::Identify(const store::OperatorSession& session) {
  v1::Operator who;
  v1::Token token;
  if (!who.ParseFromString(session.operator_row.body) ||
      !token.ParseFromString(session.token_row.body)) {
    return Error(absl::StatusCode::kDataLoss, "the stored body of {} or {} can't be read",
                 session.operator_row.name, session.token_row.name);
  }
  if (who.disabled()) {
    return Error(absl::StatusCode::kUnauthenticated,
                 "{} is disabled; an administrator enables it with: croft set operator {} "
                 "disabled=false",
                 session.operator_row.name, session.operator_row.name);
  }
  Caller caller;
  caller.operator_name = session.operator_row.name;
  caller.who = caller.operator_name.substr(caller.operator_name.rfind('/') + 1);
  caller.token_uid = session.token_row.uid;
  auto grants = Resolve(who.grants());
  if (!grants.ok()) {
    return grants.status();
  }
  if (token.scope().empty()) {
    caller.grants = *std::move(grants);
    return caller;
  }
  const auto scope = Resolve(token.scope());
  if (!scope.ok()) {
    return scope.status();
  }
  std::vector<ResolvedGrant> both = *grants;
  both.insert(both.end(), scope->begin(), scope->end());
  std::map<std::int64_t, OrganizationPath> paths;
  for (const ResolvedGrant& grant : both) {
    auto path = FindPath(grant.organization_uid, "", nullptr);
    if (!path.ok()) {
      return path.status();
    }
    paths[grant.organization_uid] = *std::move(path);
  }
  caller.grants = Narrow(*grants, *scope, [&paths](const ResolvedGrant& grant) {
    return paths.at(grant.organization_uid);
  });
  return caller;
}

absl::StatusOr<std::optional<Access::Parent>> Access::FindParent(std::int64_t uid,
                                                                 std::string_view name,
                                                                 store::Transaction* transaction) {
  {
    auto parents = parents_.Lock();
    if (const auto at = parents->find(uid); at != parents->end()) {
      return at->second;
    }
  }
  const auto row = transaction != nullptr ? transaction->Find(name)
                                          : store_.FindByUid(ResourceType::kOrganization, uid);
  if (!row.ok()) {
    return row.status();
  }
  if (!row->has_value()) {
    return std::nullopt;  // deleted: whoever has grants above it is not told apart from others
  }
  Parent parent{.uid = (*row)->organization_uid, .name = (*row)->organization};
  auto parents = parents_.Lock();
  if (parents->size() >= kParentsMax) {
    parents->clear();
  }
  (*parents)[uid] = parent;
  return parent;
}

absl::StatusOr<OrganizationPath> Access::FindPath(std::int64_t uid, std::string_view name,
                                                  store::Transaction* transaction) {
  OrganizationPath path;
  Parent at{.uid = uid, .name = std::string(name)};
  while (at.uid != 0 && path.size() < kDepthMax) {
    path.push_back(at.uid);
    auto parent = FindParent(at.uid, at.name, transaction);
    if (!parent.ok()) {
      return parent.status();
    }
    if (!parent->has_value()) {
      break;
    }
    at = **std::move(parent);
  }
  return path;
}

absl::StatusOr<OrganizationPath> Access::PathOf(const StoredResource& row, Action action,
                                                store::Transaction* transaction) {
  if (row.type != ResourceType::kOrganization) {
    return FindPath(row.organization_uid, row.organization, transaction);
  }
  // An organization is in itself; to make or remove one is its parent's business.
  auto path = FindPath(row.organization_uid, row.organization, transaction);
  if (path.ok() && (action == Action::kRead || action == Action::kUpdate)) {
    path->insert(path->begin(), row.uid);
  }
  return path;
}

absl::StatusOr<v1::Role> Access::RoleOf(const Caller& caller, const StoredResource& row,
                                        Action action, store::Transaction* transaction) {
  const v1::Role everywhere = RoleIn(caller.grants, {}, row.type);
  if (everywhere == v1::ADMINISTRATOR || IsInfrastructure(row.type) || AllAtRoot(caller)) {
    return everywhere;
  }
  const auto path = PathOf(row, action, transaction);
  return path.ok() ? absl::StatusOr<v1::Role>(RoleIn(caller.grants, *path, row.type))
                   : path.status();
}

absl::StatusOr<bool> Access::MayRead(const Caller& caller, const StoredResource& row,
                                     store::Transaction* transaction) {
  const auto role = RoleOf(caller, row, Action::kRead, transaction);
  return role.ok() ? absl::StatusOr<bool>(*role >= v1::VIEWER) : role.status();
}

absl::StatusOr<bool> Access::MayReadIn(const Caller& caller, ResourceType type,
                                       std::int64_t organization_uid) {
  StoredResource row;
  row.type = type;
  row.organization_uid = organization_uid;
  return MayRead(caller, row);
}

absl::Status Access::CheckRead(const Caller& caller, const StoredResource& row) {
  const auto may = MayRead(caller, row);
  return !may.ok() ? may.status() : *may ? absl::OkStatus() : NotFound(row.name);
}

absl::Status Access::CheckWrite(const Caller& caller, const StoredResource& row, Action action,
                                store::Transaction* transaction) {
  const auto seen =
      RoleOf(caller, row, action == Action::kCreate ? action : Action::kRead, transaction);
  if (!seen.ok()) {
    return seen.status();
  }
  const auto role = RoleOf(caller, row, action, transaction);
  if (!role.ok()) {
    return role.status();
  }
  const v1::Role required = RequiredRole(row.type, action);
  const contract::ResourceTypeFacts& facts = contract::Facts(row.type);
  const std::string place = PlaceOf(row, action);
  if (*role >= required) {
    return absl::OkStatus();
  }
  if (*seen < v1::VIEWER && action != Action::kCreate) {
    return NotFound(row.name);
  }
  if (*seen < v1::VIEWER && !IsInfrastructure(row.type) && place != kRoot) {
    return InvalidField(fmt::format("{}.organization", facts.noun), place,
                        "does not exist; create it first, or name another");
  }
  return RoleMissing(
      {.who = caller.who,
       .what = fmt::format("{} {}", Describe(action), row.name),
       .missing = fmt::format("role {} for type {}", v1::Role_Name(required), facts.noun),
       .organization = place});
}

absl::Status Access::CheckPermission(const Caller& caller, const StoredResource& row,
                                     v1::Permission permission, std::string_view field,
                                     store::Transaction* transaction) {
  if (HasPermission(caller.grants, {}, row.type, permission)) {
    return absl::OkStatus();
  }
  OrganizationPath path;
  if (!IsInfrastructure(row.type) && !AllAtRoot(caller)) {
    auto found = PathOf(row, Action::kUpdate, transaction);
    if (!found.ok()) {
      return found.status();
    }
    path = *std::move(found);
  }
  if (HasPermission(caller.grants, path, row.type, permission)) {
    return absl::OkStatus();
  }
  return RoleMissing(
      {.who = caller.who,
       .what = fmt::format("set {} of {}", field, row.name),
       .missing = fmt::format("permission {} for type {}", v1::Permission_Name(permission),
                              contract::Facts(row.type).noun),
       .organization = PlaceOf(row, Action::kUpdate)});
}

absl::Status Access::HideHolder(const Caller& caller, const absl::Status& status,
                                store::Transaction* transaction) {
  auto detail = contract::FindDetail(status);
  const std::string_view kind = detail.has_value() ? KindOfHolder(detail->reason()) : "";
  if (!absl::IsAlreadyExists(status) || kind.empty()) {
    return status;
  }
  const auto holder = transaction != nullptr ? transaction->Find(detail->resource())
                                             : store_.Find(detail->resource());
  if (!holder.ok()) {
    return holder.status();
  }
  if (holder->has_value()) {
    const auto may = MayRead(caller, **holder, transaction);
    if (!may.ok() || *may) {
      return may.ok() ? status : may.status();
    }
  }
  std::string message(status.message());
  if (const auto at = message.find(detail->resource());
      at != std::string::npos && !detail->resource().empty()) {
    message.replace(at, detail->resource().size(), fmt::format("{} of another organization", kind));
  }
  detail->clear_resource();
  return contract::WithDetail(Error(status.code(), "{}", message), *detail);
}

absl::Status Access::CheckPermissions(const Caller& caller, const StoredResource& row,
                                      const google::protobuf::Message* before,
                                      const google::protobuf::Message& after,
                                      store::Transaction* transaction) {
  for (const PermissionField& field : FindPermissionFields(before, after)) {
    const absl::Status status =
        CheckPermission(caller, row, field.permission, field.path, transaction);
    if (!status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status Access::CheckGrant(const Caller& caller, const v1::Grant& grant,
                                std::string_view field, const StoredResource& organization,
                                store::Transaction* transaction) {
  ResolvedGrant wanted = ResolveSets(grant);
  wanted.organization_uid = organization.uid;
  const auto path = FindPath(organization.uid, organization.name, transaction);
  if (!path.ok()) {
    return path.status();
  }
  if (Includes(caller.grants, wanted, *path)) {
    return absl::OkStatus();
  }
  return RoleMissing({.who = caller.who,
                      .what = fmt::format("grant {}", field),
                      .missing = "everything the grant names (nobody grants more than they have): "
                                 "role, types and permissions",
                      .organization = organization.name});
}

std::optional<std::vector<std::int64_t>> Access::VisibleOrganizations(const Caller& caller,
                                                                      ResourceType type) {
  if (RoleIn(caller.grants, {}, type) >= v1::VIEWER) {
    return std::nullopt;
  }
  std::vector<std::int64_t> visible;
  if (IsInfrastructure(type)) {
    return visible;
  }
  for (const ResolvedGrant& grant : caller.grants) {
    if (grant.role >= v1::VIEWER && (grant.types & TypeBit(type)) != 0) {
      visible.push_back(grant.organization_uid);
    }
  }
  return visible;
}

bool Access::SeesEverything(const Caller& caller) {
  return std::ranges::all_of(contract::AllResourceTypes(), [&](const auto& facts) {
    return !VisibleOrganizations(caller, facts.type).has_value();
  });
}

bool Access::MayReadInfrastructure(const Caller& caller, ResourceType type) {
  return RoleIn(caller.grants, {}, type) >= v1::VIEWER;
}

}  // namespace croft::control::domain
