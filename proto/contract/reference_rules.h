// Fields that hold names, paths and roots: brought to canonical form, and judged. Pure.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "croft/v1/site.pb.h"
#include "proto/contract/resource_name.h"
#include "proto/contract/violations.h"

namespace croft::contract {

// `text` replaced by the parsed form where that is valid.
void Canonicalize(const absl::StatusOr<std::string>& parsed, std::string& text);
absl::StatusOr<std::string> ParseReference(std::string_view text, ResourceType type);
void NormalizeRoot(v1::Root& root);

// One violation unless `text` is what `parsed` says it should be.
bool CheckCanonical(std::string_view field, std::string_view text,
                    const absl::StatusOr<std::string>& parsed, ViolationList& violations);

// References of a resource of `farm` to others of that farm; with an unknown farm ("") only their
// form is judged.
class ReferenceRules {
 public:
  ReferenceRules(std::string farm, ViolationList& violations)
      : farm_(std::move(farm)), violations_(violations) {}

  void CheckReference(std::string_view field, std::string_view text, ResourceType type) const;
  void CheckRoot(std::string_view field, const v1::Root& root) const;

 private:
  std::string farm_;
  ViolationList& violations_;
};

}  // namespace croft::contract
