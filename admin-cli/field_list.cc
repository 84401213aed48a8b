#include "admin-cli/field_list.h"

#include <algorithm>

#include "croft/v1/options.pb.h"
#include "croft/v1/settings.pb.h"
#include "croft/v1/site.pb.h"
#include "proto/base/error.h"
#include "proto/contract/field_path.h"
#include "proto/contract/field_rules.h"
#include "proto/contract/nearest_name.h"

namespace croft::admin_cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

std::string EnumValues(const google::protobuf::EnumDescriptor& type) {
  std::string values;
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() != 0) {
      values += (values.empty() ? "" : ", ") + type.value(i)->name();
    }
  }
  return values;
}

std::string Range(const v1::FieldRule& rule) {
  const auto text = [&](std::int64_t value) {
    return contract::FormatQuantity(value, rule.unit());
  };
  if (rule.has_minimum() && rule.has_maximum()) {
    return ", " + text(rule.minimum()) + " to " + text(rule.maximum());
  }
  return rule.has_minimum()   ? ", at least " + text(rule.minimum())
         : rule.has_maximum() ? ", at most " + text(rule.maximum())
                              : "";
}

std::string ScalarKind(const FieldDescriptor& field) {
  const v1::FieldRule& rule = contract::RuleOf(field);
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true, false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumValues(*field.enum_type());
    case FieldDescriptor::CPPTYPE_STRING:
      return "TEXT";
    default:
      return (rule.unit() == v1::BYTES          ? "SIZE such as 30MB"
              : rule.unit() == v1::MILLISECONDS ? "DURATION such as 20min"
                                                : "NUMBER") +
             Range(rule);
  }
}

// Messages that key=value takes as one value.
std::string ValueForm(const Descriptor& type) {
  const std::string& name = type.full_name();
  return name == v1::Binding::descriptor()->full_name() ? "IP:PORT:HOST such as *:80:shop.example"
         : name == v1::Root::descriptor()->full_name()  ? "STORE:PATH such as content:shop"
         : name == v1::StringList::descriptor()->full_name() ? "list A,B,C; += adds, -= removes"
         : name == v1::StringMap::descriptor()->full_name()  ? "list KEY=VALUE,KEY=VALUE; += adds"
         : name == "google.protobuf.Timestamp"               ? "TIME"
                                                             : "";
}

std::string Accepts(const FieldDescriptor& field) {
  const std::string one = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE
                              ? ValueForm(*field.message_type())
                              : ScalarKind(field);
  return field.is_repeated() ? "list of " + one + "; += adds, -= removes" : one;
}

std::string Notes(const v1::FieldRule& rule) {
  return rule.required() ? "required" : rule.immutable() ? "fixed at creation" : "";
}

// Whether a reader finds the field's own fields elsewhere: settings of a path are the site's.
bool SaidAlready(const FieldDescriptor& field, const FieldList& list) {
  return field.message_type()->full_name() == v1::Settings::descriptor()->full_name() &&
         std::any_of(list.settable.begin(), list.settable.end(),
                     [](const FieldLine& line) { return line.path.starts_with("settings."); });
}

void Add(const Descriptor& type, const std::string& prefix, bool output_only, FieldList& list);

void AddField(const FieldDescriptor& field, const std::string& prefix, bool output_only,
              FieldList& list) {
  const std::string path = prefix + field.name();
  const v1::FieldRule& rule = contract::RuleOf(field);
  output_only = output_only || rule.output_only();
  auto& lines = output_only ? list.output_only : list.settable;
  if (field.is_map()) {
    lines.push_back({path + ".KEY", "TEXT; KEY- removes", Notes(rule), &field});
    return;
  }
  const bool message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  if (!message || !ValueForm(*field.message_type()).empty()) {
    lines.push_back({path, Accepts(field), Notes(rule), &field});
    return;
  }
  const std::string below = path + (field.is_repeated() ? "[N]" : "");
  if (SaidAlready(field, list)) {
    lines.push_back({below + ".…", "as settings.…", "", &field});
    return;
  }
  Add(*field.message_type(), below + ".", output_only, list);
}

void Add(const Descriptor& type, const std::string& prefix, bool output_only, FieldList& list) {
  for (int i = 0; i < type.field_count(); ++i) {
    AddField(*type.field(i), prefix, output_only, list);
  }
}

// "applications[0].path" -> "applications[N].path", "applications" stays.
std::string WithoutIndexes(std::string_view path) {
  std::string text;
  for (std::size_t i = 0; i < path.size(); ++i) {
    text += path[i];
    if (path[i] == '[') {
      i = std::min(path.find(']', i), path.size()) - 1;
      text += 'N';
    }
  }
  return text;
}

bool IsBelow(const std::string& line, const std::string& path) {
  return line.starts_with(path) &&
         (line.size() == path.size() || line[path.size()] == '.' || line[path.size()] == '[');
}

void KeepBelow(const std::string& path, std::vector<FieldLine>& lines) {
  std::erase_if(lines, [&](const FieldLine& line) { return !IsBelow(line.path, path); });
}

// Of "settings.logging": below "settings" there are limits, log, ...
absl::Status NoSuchField(const Descriptor& type, const std::string& path, const FieldList& list) {
  std::string scope = path;
  std::vector<std::string> names;
  while (names.empty()) {
    const auto dot = scope.rfind('.');
    scope = dot == std::string::npos ? "" : scope.substr(0, dot);
    const std::string prefix = scope.empty() ? "" : scope + ".";
    for (const auto* lines : {&list.settable, &list.output_only}) {
      for (const FieldLine& line : *lines) {
        const std::string name =
            line.path.starts_with(prefix)
                ? line.path.substr(prefix.size(),
                                   line.path.find_first_of(".[", prefix.size()) - prefix.size())
                : "";
        if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
          names.push_back(name);
        }
      }
    }
  }
  const std::string wrong = path.substr(scope.empty() ? 0 : scope.size() + 1);
  std::string nearest = contract::NearestName(wrong, names);
  std::string there;
  for (const std::string& name : names) {
    there += (there.empty() ? "" : ", ") + name;
    nearest = nearest.empty() && wrong.starts_with(name) ? name : nearest;
  }
  return Error(absl::StatusCode::kInvalidArgument, "{} has no field \"{}\"{}; {} has: {}",
               type.name(), path, nearest.empty() ? "" : ", but \"" + nearest + "\"",
               scope.empty() ? "it" : scope, there);
}

}  // namespace

absl::StatusOr<FieldList> ListFields(const Descriptor& type, std::string_view path) {
  FieldList list;
  Add(type, "", false, list);
  if (path.empty()) {
    return list;
  }
  FieldList below = list;
  const std::string wanted = WithoutIndexes(path);
  KeepBelow(wanted, below.settable);
  KeepBelow(wanted, below.output_only);
  if (!below.settable.empty() || !below.output_only.empty()) {
    return below;
  }
  return NoSuchField(type, wanted, list);
}

}  // namespace croft::admin_cli
