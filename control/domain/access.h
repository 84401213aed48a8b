// Who may do what with which resource: grants, the tree of organizations, and the errors that say
// no. What a caller may not see does not exist for it (not_found); what it sees but may not change
// is permission_denied, naming the role or permission that is missing and where. Thread-safe;
// blocks on the store only for organizations it has not met.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "control/domain/grants.h"
#include "control/store/store.h"
#include "proto/base/guarded.h"

namespace croft::control::domain {

// Who calls, as the token says. Without grants it sees nothing.
struct Caller {
  std::string who;            // the operator's id, as kept with a change: "alice"
  std::string operator_name;  // "operators/alice"; empty for control itself
  std::int64_t token_uid = 0;
  std::vector<ResolvedGrant> grants;  // the operator's, narrowed to the token's scope
};

// Control's own work, which may do everything.
Caller SystemCaller(std::string who);

class Access {
 public:
  explicit Access(store::Store& store) : store_(store) {}

  // The caller that a live token stands for; unauthenticated when its operator is disabled.
  absl::StatusOr<Caller> Identify(const store::OperatorSession& session);

  absl::StatusOr<bool> MayRead(const Caller& caller, const store::StoredResource& row,
                               store::Transaction* transaction = nullptr);
  // The same for a resource known by its type and owner; not for an organization.
  absl::StatusOr<bool> MayReadIn(const Caller& caller, contract::ResourceType type,
                                 std::int64_t organization_uid);
  // OK, or not_found as for a resource that isn't there.
  absl::Status CheckRead(const Caller& caller, const store::StoredResource& row);
  // OK, not_found or permission_denied. The row need not exist yet: its type, name and owner (uid
  // and name) decide. The owner may be the transaction's own work.
  absl::Status CheckWrite(const Caller& caller, const store::StoredResource& row, Action action,
                          store::Transaction* transaction = nullptr);
  // For the fields that `after` sets other than `before` (null: none are set) and whose rule names
  // a permission.
  absl::Status CheckPermissions(const Caller& caller, const store::StoredResource& row,
                                const google::protobuf::Message* before,
                                const google::protobuf::Message& after,
                                store::Transaction* transaction = nullptr);
  // An error that names the holder of something taken, without the name where the caller doesn't
  // see it. The holder may be the transaction's own work.
  absl::Status HideHolder(const Caller& caller, const absl::Status& status,
                          store::Transaction* transaction = nullptr);
  // One permission at the row's place; `field` is what needs it.
  absl::Status CheckPermission(const Caller& caller, const store::StoredResource& row,
                               v1::Permission permission, std::string_view field,
                               store::Transaction* transaction = nullptr);
  // That nobody grants more than they have; `organization` is the grant's.
  absl::Status CheckGrant(const Caller& caller, const v1::Grant& grant, std::string_view field,
                          const store::StoredResource& organization,
                          store::Transaction* transaction = nullptr);

  // For ListQuery::within: nullopt, everything of the type; otherwise what belongs to these
  // organizations and to those below them, which may be none.
  static std::optional<std::vector<std::int64_t>> VisibleOrganizations(const Caller& caller,
                                                                       contract::ResourceType type);
  // Whether it sees resources of every type everywhere, so that nothing needs to be left out.
  static bool SeesEverything(const Caller& caller);
  // Whether it sees platform, farms, nodes and stores.
  static bool MayReadInfrastructure(const Caller& caller, contract::ResourceType type);

  // An organization and all above it. `name` is the uid's, needed with a transaction.
  absl::StatusOr<OrganizationPath> FindPath(std::int64_t uid, std::string_view name,
                                            store::Transaction* transaction);

 private:
  struct Parent {
    std::int64_t uid = 0;
    std::string name;
  };

  absl::StatusOr<std::optional<Parent>> FindParent(std::int64_t uid, std::string_view name,
                                                   store::Transaction* transaction);
  absl::StatusOr<OrganizationPath> PathOf(const store::StoredResource& row, Action action,
                                          store::Transaction* transaction);
  absl::StatusOr<v1::Role> RoleOf(const Caller& caller, const store::StoredResource& row,
                                  Action action, store::Transaction* transaction);
  absl::StatusOr<std::vector<ResolvedGrant>> Resolve(
      const google::protobuf::RepeatedPtrField<v1::Grant>& grants);

  store::Store& store_;
  // Who is above whom never changes, and uids are used once.
  Guarded<std::unordered_map<std::int64_t, Parent>> parents_;
};

// The bits of a valid grant's types and permissions, without its organization.
ResolvedGrant ResolveSets(const v1::Grant& grant);

}  // namespace croft::control::domain
