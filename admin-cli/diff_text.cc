#include "admin-cli/diff_text.h"

#include <fmt/format.h>

#include <string_view>

#include "proto/contract/resource_name.h"
#include "proto/contract/text_rules.h"

namespace croft::admin_cli {
namespace {

constexpr std::size_t kFieldsNamedMax = 8;

// A value on lines of its own, with the sign before each.
std::string Lines(char sign, const std::string& path, const std::string& value) {
  std::string lines;
  for (const std::string_view line : contract::Split(value, '\n')) {
    lines += fmt::format("{}{}: {}\n", sign, path, line);
  }
  return value.empty() ? "" : lines;
}

std::string_view Done(const std::string& action) {
  return action == "create"   ? "created"
         : action == "update" ? "updated"
         : action == "delete" ? "deleted"
         : action.empty()     ? "unchanged"
                              : std::string_view(action);
}

// "site shop"; what has no such name stays as it is.
std::string Called(const std::string& name) {
  const auto parsed = contract::ParseResourceName(name);
  if (!parsed.ok()) {
    return name;
  }
  const std::string_view noun = contract::Facts(parsed->type).noun;
  return parsed->type == contract::ResourceType::kPlatform ? std::string(noun)
                                                           : fmt::format("{} {}", noun, parsed->id);
}

}  // namespace

std::string FormatDiff(const v1::AppliedResource& applied) {
  if (applied.action().empty()) {
    return "";
  }
  const bool created = applied.action() == "create";
  const bool deleted = applied.action() == "delete";
  std::string text = fmt::format("--- {}\n+++ {}\n", created ? "/dev/null" : applied.name(),
                                 deleted ? "/dev/null" : applied.name());
  for (const v1::FieldChange& change : applied.changes()) {
    text += Lines('-', change.path(), change.before()) + Lines('+', change.path(), change.after());
  }
  return text;
}

std::string FormatApplied(const v1::AppliedResource& applied, bool dry_run) {
  std::string fields;
  std::size_t count = 0;
  for (const v1::FieldChange& change : applied.changes()) {
    if (++count > kFieldsNamedMax) {
      fields += fmt::format(" and {} more",
                            static_cast<std::size_t>(applied.changes_size()) - kFieldsNamedMax);
      break;
    }
    fields += (fields.empty() ? "" : ", ") + change.path();
  }
  const bool names_fields = applied.action() == "update" && !fields.empty();
  return fmt::format("{} {}{}{}", Called(applied.name()), Done(applied.action()),
                     names_fields ? " (" + fields + ")" : "", dry_run ? " (dry run)" : "");
}

}  // namespace croft::admin_cli
