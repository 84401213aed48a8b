#include "proto/contract/filter_check.h"

#include <fmt/ranges.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/time_util.h>

#include <charconv>

#include "proto/base/check.h"
#include "proto/base/error.h"
#include "proto/contract/errors.h"
#include "proto/contract/field_rules.h"
#include "proto/contract/field_text.h"
#include "proto/contract/host_name.h"
#include "proto/contract/label_rules.h"
#include "proto/contract/nearest_name.h"
#include "proto/contract/text_rules.h"

namespace croft::contract {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Timestamp;
using Operator = Comparison::Operator;

constexpr int kPathDepthMax = 4;

const Descriptor& MessageOfType(ResourceType type) {
  const Descriptor* found =
      google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(
          std::string(Facts(type).message));
  Check(found != nullptr, "a resource type has no message");
  return *found;
}

// The resource's key can be filtered by whatever its rule says.
bool IsKey(const Descriptor& message, const FieldDescriptor& field) {
  return field.containing_type() == &message && (field.name() == "name" || field.name() == "uid");
}

void CollectPaths(const Descriptor& root, const Descriptor& type, const std::string& prefix,
                  int depth, std::vector<std::string>& paths) {
  for (int i = 0; i < type.field_count() && depth < kPathDepthMax; ++i) {
    const FieldDescriptor& field = *type.field(i);
    const std::string path = prefix + field.name();
    if (RuleOf(field).indexed() || IsKey(root, field)) {
      paths.push_back(field.is_map() ? path + ".KEY" : path);
    } else if (field.message_type() != nullptr && !field.is_map()) {
      CollectPaths(root, *field.message_type(), path + ".", depth + 1, paths);
    }
  }
}

bool IsOrder(Operator op) {
  return op != Operator::kEqual && op != Operator::kNotEqual && op != Operator::kHas;
}

absl::Status CheckText(const RawComparison& raw, const FieldDescriptor& field,
                       Comparison& comparison) {
  const bool is_open = raw.starts_open || raw.ends_open;
  if (IsOrder(raw.op) && is_open) {
    return Error(absl::StatusCode::kInvalidArgument, "{}: \"*\" goes with =, != and : only",
                 raw.path);
  }
  comparison.text = raw.text;
  comparison.starts_open = raw.starts_open;
  comparison.ends_open = raw.ends_open;
  if (field.name() == "name") {
    comparison.text = LowerAscii(raw.text);
  } else if (field.name() == "host") {
    const auto host =
        is_open ? absl::StatusOr<std::string>(LowerAscii(raw.text)) : ParseBindingHost(raw.text);
    if (!host.ok()) {
      return host.status();
    }
    comparison.text = *host;
  } else if (field.name() == "organization") {
    if (raw.op == Operator::kHas && is_open) {
      return Error(absl::StatusCode::kInvalidArgument,
                   "organization: \":\" takes one name and selects it and everything below it");
    }
    if (!is_open && raw.text.find('/') == std::string::npos) {
      comparison.text = fmt::format("organizations/{}", raw.text);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLabel(const RawComparison& raw, Comparison& comparison) {
  if (!comparison.key.empty()) {
    if (const absl::Status status = CheckLabelKey(comparison.key); !status.ok()) {
      return status;
    }
    const bool is_open = raw.starts_open || raw.ends_open;
    comparison.text = raw.text;
    comparison.starts_open = raw.starts_open;
    comparison.ends_open = raw.ends_open;
    return IsOrder(raw.op) && is_open ? Error(absl::StatusCode::kInvalidArgument,
                                              "{}: \"*\" goes with =, != and : only", raw.path)
                                      : absl::OkStatus();
  }
  if (raw.op != Operator::kHas || raw.starts_open || raw.ends_open) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "labels: name one, such as labels.customer = \"acme\", or ask whether there is "
                 "one: labels:customer");
  }
  comparison.text = raw.text;
  return CheckLabelKey(raw.text);
}

absl::Status CheckEnum(const RawComparison& raw, const FieldDescriptor& field,
                       Comparison& comparison) {
  if (IsOrder(raw.op) || raw.starts_open || raw.ends_open) {
    return Error(absl::StatusCode::kInvalidArgument, "{}: takes = and != with one of {}", raw.path,
                 EnumNames(*field.enum_type()));
  }
  for (int i = 0; i < field.enum_type()->value_count(); ++i) {
    const auto& value = *field.enum_type()->value(i);
    if (value.number() != 0 && LowerAscii(value.name()) == LowerAscii(raw.text)) {
      comparison.number = value.number();
      return absl::OkStatus();
    }
  }
  return Error(absl::StatusCode::kInvalidArgument, "{}: \"{}\" is none of {}", raw.path,
               Shorten(raw.text, 60), EnumNames(*field.enum_type()));
}

absl::Status CheckInteger(const RawComparison& raw, Comparison& comparison) {
  const char* end = raw.text.data() + raw.text.size();
  const auto [stopped, error] = std::from_chars(raw.text.data(), end, comparison.number);
  const bool is_number =
      error == std::errc() && stopped == end && !raw.starts_open && !raw.ends_open;
  return is_number ? absl::OkStatus()
                   : Error(absl::StatusCode::kInvalidArgument, "{}: \"{}\" is no whole number",
                           raw.path, Shorten(raw.text, 60));
}

absl::Status CheckTime(const RawComparison& raw, Comparison& comparison) {
  constexpr std::size_t kDateBytes = 10;
  const std::string text =
      raw.text.size() == kDateBytes ? fmt::format("{}T00:00:00Z", raw.text) : raw.text;
  Timestamp time;
  if (raw.starts_open || raw.ends_open || raw.op == Operator::kHas ||
      !google::protobuf::util::TimeUtil::FromString(text, &time)) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "{}: \"{}\": expected <, <=, >, >=, = or != and a time such as "
                 "\"2026-01-31T12:00:00Z\" or \"2026-01-31\"",
                 raw.path, Shorten(raw.text, 60));
  }
  comparison.number = google::protobuf::util::TimeUtil::TimestampToMicroseconds(time);
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> FilterablePaths(ResourceType type) {
  std::vector<std::string> paths;
  const Descriptor& message = MessageOfType(type);
  CollectPaths(message, message, "", 0, paths);
  return paths;
}

FilterChecker::FilterChecker(ResourceType type) : type_(type), message_(MessageOfType(type)) {}

absl::StatusOr<Comparison> FilterChecker::FindField(std::string_view path) const {
  Comparison comparison;
  const Descriptor* type = &message_;
  std::size_t at = 0;
  while (type != nullptr && at <= path.size()) {
    const std::size_t dot = std::min(path.find('.', at), path.size());
    const FieldDescriptor* field = type->FindFieldByName(std::string(path.substr(at, dot - at)));
    if (field == nullptr) {
      break;
    }
    comparison.steps.push_back(field);
    at = dot + 1;
    const bool is_last = at > path.size();
    if (RuleOf(*field).indexed() && field->is_map()) {
      comparison.path = field->name();
      comparison.key = is_last ? "" : path.substr(at);
      return is_last || !comparison.key.empty() ? absl::StatusOr<Comparison>(comparison)
                                                : CheckLabelKey("");
    }
    if (is_last && (RuleOf(*field).indexed() || IsKey(message_, *field))) {
      comparison.path = path;
      return comparison;
    }
    type = field->is_map() ? nullptr : field->message_type();
  }
  const std::vector<std::string> paths = FilterablePaths(type_);
  const std::string nearest = NearestName(path, paths);
  return Error(absl::StatusCode::kInvalidArgument,
               "{}: filters of {} can't name it; those that an index answers are {}{}",
               Shorten(path, 60), Facts(type_).collection, fmt::join(paths, ", "),
               nearest.empty() ? "" : fmt::format("; the nearest is \"{}\"", nearest));
}

absl::StatusOr<Comparison> FilterChecker::Check(const RawComparison& raw) const {
  auto comparison = FindField(raw.path);
  if (!comparison.ok()) {
    return comparison;
  }
  comparison->op = raw.op;
  const FieldDescriptor& field = *comparison->steps.back();
  absl::Status status;
  if (field.is_map()) {
    status = CheckLabel(raw, *comparison);
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    status = CheckText(raw, field, *comparison);
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    status = CheckEnum(raw, field, *comparison);
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    status = CheckInteger(raw, *comparison);
  } else if (field.message_type() == Timestamp::descriptor()) {
    status = CheckTime(raw, *comparison);
  } else {
    status = Error(absl::StatusCode::kInvalidArgument, "{}: can't be compared", raw.path);
  }
  return status.ok() ? comparison : status;
}

}  // namespace croft::contract
