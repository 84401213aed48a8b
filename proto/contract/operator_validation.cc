#include "proto/contract/operator_validation.h"

#include <algorithm>

#include "proto/base/error.h"
#include "proto/contract/reference_rules.h"
#include "proto/contract/resource_name.h"

namespace croft::contract {
namespace {

using Grants = google::protobuf::RepeatedPtrField<v1::Grant>;

constexpr std::int64_t kTokenLifetimeDefaultMs = std::int64_t{90} * 24 * 60 * 60 * 1000;

bool IsType(std::string_view noun) {
  return std::ranges::any_of(AllResourceTypes(),
                             [&](const ResourceTypeFacts& facts) { return facts.noun == noun; });
}

std::string TypeNames() {
  std::string names;
  for (const ResourceTypeFacts& facts : AllResourceTypes()) {
    names += names.empty() ? "" : ", ";
    names += facts.noun;
  }
  return names;
}

void NormalizeGrants(Grants& grants) {
  for (v1::Grant& grant : grants) {
    Canonicalize(ParseReference(grant.organization(), ResourceType::kOrganization),
                 *grant.mutable_organization());
  }
}

void ValidateGrants(const Grants& grants, std::string_view field, ViolationList& violations) {
  for (int i = 0; i < grants.size(); ++i) {
    const v1::Grant& grant = grants[i];
    const std::string at = fmt::format("{}[{}]", field, i);
    if (!grant.organization().empty()) {
      CheckCanonical(at + ".organization", grant.organization(),
                     ParseReference(grant.organization(), ResourceType::kOrganization), violations);
    }
    for (int j = 0; j < grant.types_size(); ++j) {
      if (!IsType(grant.types(j))) {
        violations.Add(fmt::format("{}.types[{}]", at, j), grant.types(j),
                       "is no type; there are " + TypeNames());
      }
    }
    for (int j = 0; j < grant.permissions_size(); ++j) {
      if (grant.permissions(j) == v1::PERMISSION_UNSPECIFIED) {
        violations.Add(fmt::format("{}.permissions[{}]", at, j), "",
                       "has to be RUN_CODE or USE_FILE_STORE");
      }
    }
  }
}

}  // namespace

void NormalizeOperator(v1::Operator& resource) { NormalizeGrants(*resource.mutable_grants()); }

void ValidateOperator(const v1::Operator& resource, ViolationList& violations) {
  ValidateGrants(resource.grants(), "operator.grants", violations);
}

void NormalizeToken(v1::Token& token) {
  Canonicalize(ParseReference(token.operator_(), ResourceType::kOperator),
               *token.mutable_operator_());
  if (token.lifetime() == 0) {
    token.set_lifetime(kTokenLifetimeDefaultMs);
  }
  NormalizeGrants(*token.mutable_scope());
}

void ValidateToken(const v1::Token& token, ViolationList& violations) {
  CheckCanonical("token.operator", token.operator_(),
                 ParseReference(token.operator_(), ResourceType::kOperator), violations);
  ValidateGrants(token.scope(), "token.scope", violations);
}

}  // namespace croft::contract
