#include "proto/contract/grant_text.h"

#include "proto/base/error.h"
#include "proto/contract/field_text.h"
#include "proto/contract/text_rules.h"

namespace croft::contract {
namespace {

std::string UpperAscii(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return upper;
}

bool ParseRole(std::string_view text, v1::Role& role) {
  return v1::Role_Parse(UpperAscii(text), &role) && role != v1::ROLE_UNSPECIFIED;
}

bool BeginsGrant(std::string_view text) {
  const std::vector<std::string_view> parts = Split(text, ':');
  v1::Role role = v1::ROLE_UNSPECIFIED;
  return parts.size() > 1 && ParseRole(parts[1], role);
}

absl::Status Unreadable(std::string_view text, std::string_view why) {
  return Error(absl::StatusCode::kInvalidArgument,
               "\"{}\": {}; expected ORGANIZATION:ROLE[:TYPES[:PERMISSIONS]], such as "
               "organizations/acme:OPERATOR:site,account:USE_FILE_STORE",
               Shorten(text, 100), why);
}

}  // namespace

absl::StatusOr<v1::Grant> ParseGrant(std::string_view text) {
  const std::vector<std::string_view> parts = Split(text, ':');
  if (parts.size() < 2 || parts.size() > 4 || parts[0].empty()) {
    return Unreadable(text, "is no grant");
  }
  v1::Grant grant;
  grant.set_organization(std::string(parts[0]));
  v1::Role role = v1::ROLE_UNSPECIFIED;
  if (!ParseRole(parts[1], role)) {
    return Unreadable(text, "the role is " + EnumNames(*v1::Role_descriptor()));
  }
  grant.set_role(role);
  if (parts.size() > 2) {
    for (const std::string_view type : SplitList(parts[2])) {
      grant.add_types(LowerAscii(type));
    }
  }
  if (parts.size() > 3) {
    for (const std::string_view name : SplitList(parts[3])) {
      v1::Permission permission = v1::PERMISSION_UNSPECIFIED;
      if (!v1::Permission_Parse(UpperAscii(name), &permission) ||
          permission == v1::PERMISSION_UNSPECIFIED) {
        return Unreadable(text, "a permission is " + EnumNames(*v1::Permission_descriptor()));
      }
      grant.add_permissions(permission);
    }
  }
  return grant;
}

std::string FormatGrant(const v1::Grant& grant) {
  std::string text = grant.organization() + ":" + v1::Role_Name(grant.role());
  if (!grant.types().empty() || !grant.permissions().empty()) {
    text += fmt::format(":{}", fmt::join(grant.types(), ","));
  }
  for (int i = 0; i < grant.permissions_size(); ++i) {
    text += i == 0 ? ":" : ",";
    text += v1::Permission_Name(grant.permissions(i));
  }
  return text;
}

std::vector<std::string> SplitGrants(std::string_view text) {
  std::vector<std::string> grants;
  for (const std::string_view part : SplitList(text)) {
    if (grants.empty() || BeginsGrant(part)) {
      grants.emplace_back(part);
    } else {
      grants.back().append(",").append(part);
    }
  }
  return grants;
}

}  // namespace croft::contract
