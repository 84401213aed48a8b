#include "admin-cli/field_meaning.h"

#include <fmt/format.h>

#include <algorithm>

#include "croft/v1/options.pb.h"
#include "croft/v1/settings.pb.h"
#include "proto/contract/field_path.h"
#include "proto/contract/field_rules.h"

namespace croft::admin_cli {
namespace {

using google::protobuf::FieldDescriptor;

// The rest of the sentence that begins with `word`; empty if there is none.
std::string_view Sentence(std::string_view comment, std::string_view word) {
  const auto at = comment.rfind(word);
  if (at == std::string_view::npos) {
    return "";
  }
  comment.remove_prefix(at + word.size());
  const auto end = comment.find(". ");
  comment = comment.substr(0, end);
  if (end == std::string_view::npos && comment.ends_with('.')) {
    comment.remove_suffix(1);
  }
  return comment;
}

std::string WithUnit(std::string_view text, v1::Unit unit) {
  const auto number = contract::ParseQuantity(text, unit);
  return number.ok() ? contract::FormatQuantity(*number, unit) : std::string(text);
}

bool IsSetting(const FieldLine& line) {
  return line.path.starts_with("settings.") || line.path.find("].settings.") != std::string::npos;
}

}  // namespace

std::string DefaultOf(const FieldDescriptor& field, const comments::ApiComments& comments) {
  if (field.enum_type() != nullptr && !field.is_repeated()) {
    const std::string zero = comments.Of(field.enum_type()->value(0)->full_name());
    return std::string(Sentence(zero, "Means "));
  }
  const std::string comment = comments.Of(field.full_name());
  std::string_view text = Sentence(comment, "Default: ");
  if (text.empty()) {
    text = Sentence(comment, "Default ");
  }
  if (text.empty() && field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL && !field.has_presence()) {
    return "false";
  }
  return WithUnit(text, contract::RuleOf(field).unit());
}

std::string UnitOf(const FieldDescriptor& field) {
  switch (contract::RuleOf(field).unit()) {
    case v1::BYTES:
      return "bytes: 512, 30MB, 4KiB, 1GB";
    case v1::MILLISECONDS:
      return "time: 250ms, 30s, 20min, 1h30m, 7d";
    case v1::COUNT:
      return "a number of things";
    default:
      return "";
  }
}

std::string SetBy(const Noun& noun, const FieldDescriptor& field) {
  const v1::FieldRule& rule = contract::RuleOf(field);
  if (rule.output_only()) {
    return "nobody; Croft does";
  }
  const std::string_view type = noun.noun;
  std::string who = type == "site" || type == "pool" || type == "account"
                        ? fmt::format("OPERATOR or ADMINISTRATOR of the {}'s organization", type)
                    : type == "organization" || type == "operator" || type == "token"
                        ? "ADMINISTRATOR of the organization"
                        : "ADMINISTRATOR of organizations/root";
  if (rule.permission() != v1::PERMISSION_UNSPECIFIED) {
    who += fmt::format(", whose grant has {}", v1::Permission_Name(rule.permission()));
  }
  return who + (rule.immutable() ? "; at creation only" : "");
}

std::string LevelsOf(const FieldLine& line) {
  if (!IsSetting(line)) {
    return "";
  }
  const bool whole = line.field->message_type() != nullptr;
  return std::string(
             "platform, farm, site, path of a site: each inherits what it does not set from the "
             "one before; the innermost that sets it counts") +
         (whole ? ", with all of its list" : "");
}

std::vector<std::string> ExamplesOf(const Noun& noun, const FieldLine& line,
                                    const std::string& default_text) {
  const bool platform = noun.type == contract::ResourceType::kPlatform;
  const std::string set = fmt::format("croft set {}{} ", noun.noun, platform ? "" : " NAME");
  std::string path = line.path;
  for (auto at = path.find("[N]"); at != std::string::npos; at = path.find("[N]")) {
    path.replace(at, 3, "[0]");
  }
  const auto such = line.accepts.find("such as ");
  std::string value = such != std::string::npos ? line.accepts.substr(such + 8) : default_text;
  value = value.substr(0, value.find_first_of(",;"));
  if (value.empty()) {
    value = line.accepts.substr(0, line.accepts.find_first_of(",; "));
  }
  std::vector<std::string> examples;
  if (path.ends_with(".KEY")) {
    path.resize(path.size() - 4);
    examples.push_back(set + path + ".tier=gold");
    examples.push_back(set + path + ".tier-");
  } else if (line.field->is_repeated()) {
    examples.push_back(set + path + "+=" + value);
    examples.push_back(set + path + "-=" + value);
  } else {
    examples.push_back(set + path + "=" + value);
    if (line.field->has_presence()) {
      examples.push_back(set + path + "-");
    }
  }
  return examples;
}

}  // namespace croft::admin_cli
