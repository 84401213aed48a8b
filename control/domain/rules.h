// What a resource asks of others before it is written, per type: one file each (site_rules,
// account_rules, pool_rules, operator_rules, token_rules).
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

#include "control/domain/access.h"
#include "control/domain/resources.h"
#include "control/domain/token_rules.h"
#include "control/store/store.h"
#include "croft/v1/account.pb.h"
#include "croft/v1/operator.pb.h"
#include "croft/v1/pool.pb.h"
#include "croft/v1/site.pb.h"
#include "croft/v1/store.pb.h"
#include "provisioning/placement.h"

namespace croft::control::domain {

struct RuleContext {
  store::Store& store;
  store::Transaction& transaction;
  const Caller& caller;
  Access& access;
  const WriteOptions& options;
  const TokenSecret* secret = nullptr;  // of a token that is being created
};

// What is kept beside the row.
struct Links {
  std::vector<std::string> bindings;    // encoded keys of a site
  std::vector<std::string> references;  // names in the body, beside farm, owner and home store
};

// Checks `resource` (valid by itself) against the others, completes it (a home, an identity), and
// fills the row's columns and `links`. `row` has uid, name and farm already.
absl::Status ApplyRules(const RuleContext& context, google::protobuf::Message& resource,
                        store::StoredResource& row, Links& links);

// Takes them for a row that has none.
absl::Status WriteLinks(store::Transaction& transaction, const store::StoredResource& row,
                        const Links& links);

// Pools and stores exist; gathers references and bindings.
absl::Status ApplySiteRules(const RuleContext& context, const v1::Site& site,
                            const store::StoredResource& row, Links& links);
// Places the home, unless it is placed.
absl::Status ApplyAccountRules(const RuleContext& context, v1::Account& account,
                               store::StoredResource& row);
// Draws the identity, once.
absl::Status ApplyPoolRules(const RuleContext& context, v1::ApplicationPool& pool,
                            store::StoredResource& row);

// Grants name organizations that exist and reach no further than the caller's own.
absl::Status ApplyOperatorRules(const RuleContext& context, const v1::Operator& resource,
                                const store::StoredResource& row, Links& links);
// The row's owner, which is the operator's.
absl::Status FindTokenOwner(const RuleContext& context, const v1::Token& token,
                            store::StoredResource& row);
// At creation: the caller has what the token may do; keeps the secret's hash.
absl::Status ApplyTokenRules(const RuleContext& context, const v1::Token& token,
                             const store::StoredResource& row, Links& links);

// Each grant names an organization the caller sees, and nothing it doesn't have itself; `field` is
// the list's path.
absl::Status CheckGrants(const RuleContext& context,
                         const google::protobuf::RepeatedPtrField<v1::Grant>& grants,
                         std::string_view field);

// The farm's stores that take homes, with what is left in each.
absl::StatusOr<std::vector<provisioning::StoreRoom>> ReadRooms(const RuleContext& context,
                                                               std::int64_t farm_uid);
// One store, kept from deletion until the end of the transaction; `field` names where it was asked
// for.
absl::StatusOr<provisioning::StoreRoom> ReadRoom(const RuleContext& context,
                                                 const std::string& store_name,
                                                 std::string_view field);

}  // namespace croft::control::domain
