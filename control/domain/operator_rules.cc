#include <google/protobuf/util/message_differencer.h>

#include "control/domain/failures.h"
#include "control/domain/rules.h"
#include "croft/v1/operator.pb.h"
#include "proto/base/error.h"
#include "proto/contract/errors.h"

namespace croft::control::domain {
namespace {

using Grants = google::protobuf::RepeatedPtrField<v1::Grant>;

bool SameGrants(const v1::Operator& a, const v1::Operator& b) {
  v1::Operator ours, theirs;
  *ours.mutable_grants() = a.grants();
  *theirs.mutable_grants() = b.grants();
  return google::protobuf::util::MessageDifferencer::Equals(ours, theirs);
}

}  // namespace

absl::Status CheckGrants(const RuleContext& context, const Grants& grants, std::string_view field) {
  std::vector<v1::FieldViolation> missing;
  for (int i = 0; i < grants.size(); ++i) {
    const std::string at = fmt::format("{}[{}]", field, i);
    const auto organization = context.transaction.Find(grants[i].organization());
    if (!organization.ok()) {
      return organization.status();
    }
    bool seen = organization->has_value();
    if (seen) {
      const auto may = context.access.MayRead(context.caller, **organization, &context.transaction);
      if (!may.ok()) {
        return may.status();
      }
      seen = *may;
    }
    if (!seen) {
      missing.push_back(MakeViolation(at + ".organization", grants[i].organization(),
                                      "does not exist; create it first, or name another"));
      continue;
    }
    const absl::Status status = context.access.CheckGrant(context.caller, grants[i], at,
                                                          **organization, &context.transaction);
    if (!status.ok()) {
      return status;
    }
  }
  return contract::InvalidFields(missing);
}

absl::Status ApplyOperatorRules(const RuleContext& context, const v1::Operator& resource,
                                const store::StoredResource& row, Links& links) {
  for (const v1::Grant& grant : resource.grants()) {
    links.references.push_back(grant.organization());
  }
  v1::Operator before;
  const bool is_known = !row.body.empty() && before.ParseFromString(row.body);
  // What somebody else granted may stay, whoever changes the rest.
  return is_known && SameGrants(before, resource)
             ? absl::OkStatus()
             : CheckGrants(context, resource.grants(), "operator.grants");
}

}  // namespace croft::control::domain
