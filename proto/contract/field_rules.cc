#include "proto/contract/field_rules.h"

#include <limits>
#include <string>

#include "proto/base/error.h"
#include "proto/contract/field_path.h"
#include "proto/contract/field_text.h"
#include "proto/contract/label_rules.h"

namespace croft::contract {
namespace {

using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// One field that is neither a list nor absent.
struct Value {
  const Message& message;
  const FieldDescriptor& field;
  std::string path;
};

std::optional<std::int64_t> IntegerOf(const Value& value) {
  const Reflection& reflection = *value.message.GetReflection();
  switch (value.field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.GetInt32(value.message, &value.field);
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection.GetInt64(value.message, &value.field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection.GetUInt32(value.message, &value.field);
    default:
      return std::nullopt;
  }
}

void CheckRange(const Value& value, ViolationList& violations) {
  const v1::FieldRule& rule = RuleOf(value.field);
  const auto number = IntegerOf(value);
  if (!number || (!rule.has_minimum() && !rule.has_maximum())) {
    return;
  }
  const std::int64_t least =
      rule.has_minimum() ? rule.minimum() : std::numeric_limits<std::int64_t>::min();
  const std::int64_t most =
      rule.has_maximum() ? rule.maximum() : std::numeric_limits<std::int64_t>::max();
  if (*number < least || *number > most) {
    violations.Add(value.path, FormatQuantity(*number, rule.unit()),
                   fmt::format("has to be {} to {}", FormatQuantity(least, rule.unit()),
                               FormatQuantity(most, rule.unit())));
  }
}

void CheckText(std::string_view path, std::string_view text, ViolationList& violations) {
  if (HasControl(text)) {
    violations.Add(path, text, "may have no control characters");
  } else if (text.size() > kStringBytesMax) {
    violations.Add(path, text, fmt::format("is longer than {} bytes", kStringBytesMax));
  } else if (!IsUtf8(text)) {
    violations.Add(path, text, "is not UTF-8");
  }
}

void CheckEnum(const Value& value, int number, ViolationList& violations) {
  const EnumDescriptor& type = *value.field.enum_type();
  if (type.FindValueByNumber(number) == nullptr) {
    violations.Add(
        value.path, std::to_string(number),
        fmt::format("is no value of {}; expected one of {}", type.name(), EnumNames(type)));
  }
}

void CheckSingle(const Value& value, ViolationList& violations) {
  const Reflection& reflection = *value.message.GetReflection();
  switch (value.field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      CheckFieldRules(reflection.GetMessage(value.message, &value.field), value.path, violations);
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      CheckEnum(value, reflection.GetEnumValue(value.message, &value.field), violations);
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      CheckText(value.path, reflection.GetString(value.message, &value.field), violations);
      break;
    default:
      CheckRange(value, violations);
      break;
  }
}

void CheckRepeated(const Value& list, ViolationList& violations) {
  const Reflection& reflection = *list.message.GetReflection();
  const int size = reflection.FieldSize(list.message, &list.field);
  if (size > kListItemsMax) {
    violations.Add(list.path, std::to_string(size),
                   fmt::format("has {} items; at most {} are allowed", size, kListItemsMax));
    return;
  }
  for (int i = 0; i < size; ++i) {
    const Value item{list.message, list.field, fmt::format("{}[{}]", list.path, i)};
    switch (list.field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        CheckFieldRules(reflection.GetRepeatedMessage(list.message, &list.field, i), item.path,
                        violations);
        break;
      case FieldDescriptor::CPPTYPE_ENUM:
        CheckEnum(item, reflection.GetRepeatedEnumValue(list.message, &list.field, i), violations);
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        CheckText(item.path, reflection.GetRepeatedString(list.message, &list.field, i),
                  violations);
        break;
      default:
        break;
    }
  }
}

}  // namespace

void CheckFieldRules(const Message& message, std::string_view path, ViolationList& violations) {
  const auto& type = *message.GetDescriptor();
  if (type.file()->package() != "croft.v1" && !type.options().map_entry()) {
    return;  // google.protobuf.Timestamp and the like have rules of their own
  }
  const Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const v1::FieldRule& rule = RuleOf(field);
    const Value value{message, field, fmt::format("{}.{}", path, field.name())};
    if (rule.output_only()) {
      continue;
    }
    if (field.is_map() && field.name() == "labels") {
      CheckLabels(ReadStringMap(message, field), value.path, violations);
    } else if (field.is_repeated()) {
      CheckRepeated(value, violations);
    } else if (reflection.HasField(message, &field)) {
      CheckSingle(value, violations);
    } else if (rule.required()) {
      violations.Add(value.path, "", "is required");
    }
  }
}

}  // namespace croft::contract
