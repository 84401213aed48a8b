// What grants allow: pure rules over resolved grants, the type of a resource and the path from its
// organization up to the root. The one place where roles are compared with what is to be done.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "croft/v1/operator.pb.h"
#include "croft/v1/options.pb.h"
#include "proto/contract/resource_name.h"

namespace croft::control::domain {

enum class Action { kRead, kCreate, kUpdate, kDelete, kUndelete };

// Uids of an organization and of all above it, the root's last. Empty stands for the root's own
// ground: only grants at the root reach there.
using OrganizationPath = std::vector<std::int64_t>;

inline constexpr std::uint32_t kAllTypes = ~0U;

// A grant whose names were looked up.
struct ResolvedGrant {
  std::int64_t organization_uid = 0;
  bool at_root = false;  // its organization is organizations/root, above everything
  v1::Role role = v1::ROLE_UNSPECIFIED;
  std::uint32_t types = kAllTypes;  // TypeBit of each
  std::uint32_t permissions = 0;    // PermissionBit of each

  bool operator==(const ResolvedGrant&) const = default;
};

constexpr std::uint32_t TypeBit(contract::ResourceType type) {
  return 1U << static_cast<unsigned>(type);
}
constexpr std::uint32_t PermissionBit(v1::Permission permission) {
  return 1U << static_cast<unsigned>(permission);
}

// Platform, farms, nodes and file stores: whatever organization they name, they are the root's.
bool IsInfrastructure(contract::ResourceType type);

// The least role that may do it.
v1::Role RequiredRole(contract::ResourceType type, Action action);

// The highest role for the type at the end of the path; ROLE_UNSPECIFIED: does not even see it.
v1::Role RoleIn(std::span<const ResolvedGrant> grants, const OrganizationPath& path,
                contract::ResourceType type);
// Administrators of the root have every permission.
bool HasPermission(std::span<const ResolvedGrant> grants, const OrganizationPath& path,
                   contract::ResourceType type, v1::Permission permission);

// Whether someone with `grants` may give `wanted`, which is at the end of `path`: role and
// permissions for each of its types.
bool Includes(std::span<const ResolvedGrant> grants, const ResolvedGrant& wanted,
              const OrganizationPath& path);

// What `grants` and `scope` both allow.
std::vector<ResolvedGrant> Narrow(
    std::span<const ResolvedGrant> grants, std::span<const ResolvedGrant> scope,
    const std::function<OrganizationPath(const ResolvedGrant&)>& path_of);

}  // namespace croft::control::domain
