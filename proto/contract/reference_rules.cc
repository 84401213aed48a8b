#include "proto/contract/reference_rules.h"

#include "proto/base/error.h"
#include "proto/contract/url_path.h"

namespace croft::contract {

void Canonicalize(const absl::StatusOr<std::string>& parsed, std::string& text) {
  if (parsed.ok()) {
    text = *parsed;
  }
}

absl::StatusOr<std::string> ParseReference(std::string_view text, ResourceType type) {
  const auto name = ParseResourceName(text, type);
  if (!name.ok()) {
    return name.status();
  }
  return FormatResourceName(*name);
}

void NormalizeRoot(v1::Root& root) {
  Canonicalize(ParseReference(root.store(), ResourceType::kStore), *root.mutable_store());
  Canonicalize(ParseRelativePath(root.path()), *root.mutable_path());
}

bool CheckCanonical(std::string_view field, std::string_view text,
                    const absl::StatusOr<std::string>& parsed, ViolationList& violations) {
  if (!parsed.ok()) {
    violations.Add(field, text, parsed.status());
    return false;
  }
  if (*parsed != text) {
    violations.Add(field, text, fmt::format("is not in canonical form; write \"{}\"", *parsed));
    return false;
  }
  return true;
}

void ReferenceRules::CheckReference(std::string_view field, std::string_view text,
                                    ResourceType type) const {
  if (text.empty()) {
    const ResourceTypeFacts& facts = Facts(type);
    violations_.Add(field, text,
                    fmt::format("is required: the name of a {}, \"farms/{}/{}/{{{}}}\"", facts.noun,
                                farm_.empty() ? "{farm}" : farm_, facts.collection, facts.noun));
    return;
  }
  if (!CheckCanonical(field, text, ParseReference(text, type), violations_)) {
    return;
  }
  const auto name = ParseResourceName(text, type);
  if (!farm_.empty() && name->farm != farm_) {
    violations_.Add(
        field, text,
        fmt::format("is of farm \"{}\", but this resource is of farm \"{}\"", name->farm, farm_));
  }
}

void ReferenceRules::CheckRoot(std::string_view field, const v1::Root& root) const {
  CheckReference(fmt::format("{}.store", field), root.store(), ResourceType::kStore);
  CheckCanonical(fmt::format("{}.path", field), root.path(), ParseRelativePath(root.path()),
                 violations_);
}

}  // namespace croft::contract
