#include "control/domain/grants.h"

#include <algorithm>

namespace croft::control::domain {
namespace {

using contract::ResourceType;

bool Reaches(const ResolvedGrant& grant, const OrganizationPath& path) {
  return grant.at_root || std::ranges::find(path, grant.organization_uid) != path.end();
}

bool Covers(const ResolvedGrant& grant, const OrganizationPath& path, ResourceType type) {
  return (grant.types & TypeBit(type)) != 0 && Reaches(grant, path);
}

std::uint32_t PermissionsOf(const ResolvedGrant& grant) {
  return grant.at_root && grant.role == v1::ADMINISTRATOR ? ~0U : grant.permissions;
}

}  // namespace

bool IsInfrastructure(ResourceType type) {
  switch (type) {
    case ResourceType::kPlatform:
    case ResourceType::kFarm:
    case ResourceType::kNode:
    case ResourceType::kStore:
      return true;
    case ResourceType::kOrganization:
    case ResourceType::kPool:
    case ResourceType::kSite:
    case ResourceType::kAccount:
    case ResourceType::kOperator:
    case ResourceType::kToken:
      return false;
  }
  return true;
}

v1::Role RequiredRole(ResourceType type, Action action) {
  if (action == Action::kRead) {
    return v1::VIEWER;
  }
  switch (type) {
    case ResourceType::kPool:
    case ResourceType::kSite:
    case ResourceType::kAccount:
      return v1::OPERATOR;
    case ResourceType::kPlatform:
    case ResourceType::kFarm:
    case ResourceType::kNode:
    case ResourceType::kStore:
    case ResourceType::kOrganization:
    case ResourceType::kOperator:
    case ResourceType::kToken:
      return v1::ADMINISTRATOR;
  }
  return v1::ADMINISTRATOR;
}

v1::Role RoleIn(std::span<const ResolvedGrant> grants, const OrganizationPath& path,
                ResourceType type) {
  v1::Role highest = v1::ROLE_UNSPECIFIED;
  for (const ResolvedGrant& grant : grants) {
    if (grant.role > highest && Covers(grant, path, type)) {
      highest = grant.role;
    }
  }
  return highest;
}

bool HasPermission(std::span<const ResolvedGrant> grants, const OrganizationPath& path,
                   ResourceType type, v1::Permission permission) {
  return std::ranges::any_of(grants, [&](const ResolvedGrant& grant) {
    return (PermissionsOf(grant) & PermissionBit(permission)) != 0 && Covers(grant, path, type);
  });
}

bool Includes(std::span<const ResolvedGrant> grants, const ResolvedGrant& wanted,
              const OrganizationPath& path) {
  for (const contract::ResourceTypeFacts& facts : contract::AllResourceTypes()) {
    if ((wanted.types & TypeBit(facts.type)) == 0) {
      continue;
    }
    if (RoleIn(grants, path, facts.type) < wanted.role) {
      return false;
    }
    for (const v1::Permission permission : {v1::RUN_CODE, v1::USE_FILE_STORE}) {
      if ((wanted.permissions & PermissionBit(permission)) != 0 &&
          !HasPermission(grants, path, facts.type, permission)) {
        return false;
      }
    }
  }
  return true;
}

std::vector<ResolvedGrant> Narrow(
    std::span<const ResolvedGrant> grants, std::span<const ResolvedGrant> scope,
    const std::function<OrganizationPath(const ResolvedGrant&)>& path_of) {
  std::vector<ResolvedGrant> narrowed;
  for (const ResolvedGrant& grant : grants) {
    for (const ResolvedGrant& limit : scope) {
      const bool limit_is_below = Reaches(grant, path_of(limit));
      if (!limit_is_below && !Reaches(limit, path_of(grant))) {
        continue;
      }
      ResolvedGrant both = limit_is_below ? limit : grant;
      both.role = std::min(grant.role, limit.role);
      both.types = grant.types & limit.types;
      both.permissions = PermissionsOf(grant) & PermissionsOf(limit);
      if (both.types != 0 && std::ranges::find(narrowed, both) == narrowed.end()) {
        narrowed.push_back(both);
      }
    }
  }
  return narrowed;
}

}  // namespace croft::control::domain
