#include "control/domain/token_rules.h"

#include "control/domain/failures.h"
#include "control/domain/rules.h"
#include "control/identity/tokens.h"
#include "croft/v1/operator.pb.h"
#include "proto/base/error.h"

namespace croft::control::domain {
namespace {

using store::StoredResource;

// The operator whose the token is; not to be deleted until the end of the transaction.
absl::StatusOr<StoredResource> FindOperator(const RuleContext& context, const std::string& name) {
  auto row = context.transaction.Find(name);
  if (!row.ok()) {
    return row.status();
  }
  if (row->has_value()) {
    const auto may = context.access.MayRead(context.caller, **row, &context.transaction);
    if (!may.ok()) {
      return may.status();
    }
    if (*may) {
      return **std::move(row);
    }
  }
  return InvalidField("token.operator", name, "does not exist; create it first, or name another");
}

// A token acts with its operator's grants, so whoever makes one has to have them, or those it is
// narrowed to.
absl::Status CheckReach(const RuleContext& context, const v1::Token& token,
                        const StoredResource& operator_row) {
  v1::Operator owner;
  if (!owner.ParseFromString(operator_row.body)) {
    return Error(absl::StatusCode::kDataLoss, "the stored body of {} can't be read",
                 operator_row.name);
  }
  const bool is_narrowed = !token.scope().empty();
  return CheckGrants(context, is_narrowed ? token.scope() : owner.grants(),
                     is_narrowed ? "token.scope" : "token.operator's grants");
}

}  // namespace

TokenSecret MakeTokenSecret() {
  TokenSecret made;
  made.secret = identity::MakeOperatorToken();
  made.hash = identity::HashToken(made.secret);
  return made;
}

std::chrono::system_clock::time_point ExpiryOf(const StoredResource& token_row) {
  v1::Token token;
  return token.ParseFromString(token_row.body)
             ? token_row.created + std::chrono::milliseconds(token.lifetime())
             : std::chrono::system_clock::time_point();
}

absl::Status FindTokenOwner(const RuleContext& context, const v1::Token& token,
                            StoredResource& row) {
  const auto owner = FindOperator(context, token.operator_());
  if (!owner.ok()) {
    return owner.status();
  }
  row.organization_uid = owner->organization_uid;
  row.organization = owner->organization;
  return absl::OkStatus();
}

absl::Status ApplyTokenRules(const RuleContext& context, const v1::Token& token,
                             const StoredResource& row, Links& links) {
  links.references.push_back(token.operator_());
  for (const v1::Grant& grant : token.scope()) {
    links.references.push_back(grant.organization());
  }
  if (context.secret == nullptr) {
    return absl::OkStatus();  // no creation: all that matters is fixed
  }
  const auto owner = FindOperator(context, token.operator_());
  if (!owner.ok()) {
    return owner.status();
  }
  if (absl::Status status = CheckReach(context, token, *owner); !status.ok()) {
    return status;
  }
  return context.transaction.SetTokenHash(row.uid, owner->uid, context.secret->hash);
}

}  // namespace croft::control::domain
