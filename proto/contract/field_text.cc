#include "proto/contract/field_text.h"

#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/time_util.h>

#include <charconv>
#include <limits>
#include <map>

#include "croft/v1/operator.pb.h"
#include "croft/v1/settings.pb.h"
#include "croft/v1/site.pb.h"
#include "proto/base/check.h"
#include "proto/base/error.h"
#include "proto/contract/binding_rules.h"
#include "proto/contract/field_path.h"
#include "proto/contract/field_rules.h"
#include "proto/contract/grant_text.h"
#include "proto/contract/string_map.h"
#include "proto/contract/text_rules.h"

namespace croft::contract {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::Timestamp;

absl::Status Expected(std::string_view text, std::string_view what) {
  return Error(absl::StatusCode::kInvalidArgument, "\"{}\" is not {}", Shorten(text, 60), what);
}

template <typename Number>
absl::StatusOr<Number> ParseNumber(std::string_view text, v1::Unit unit) {
  const auto value = ParseQuantity(text, unit);
  if (!value.ok()) {
    return value.status();
  }
  if (*value < 0 && std::numeric_limits<Number>::min() == 0) {
    return Expected(text, "a number of at least 0");
  }
  if (static_cast<std::int64_t>(static_cast<Number>(*value)) != *value) {
    return Expected(text, fmt::format("a number up to {}", std::numeric_limits<Number>::max()));
  }
  return static_cast<Number>(*value);
}

absl::StatusOr<double> ParseDouble(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Expected(text, "a number");
  }
  return value;
}

absl::StatusOr<bool> ParseBool(std::string_view text) {
  const std::string lower = LowerAscii(text);
  for (const std::string_view yes : {"true", "yes", "on", "1"}) {
    if (lower == yes) {
      return true;
    }
  }
  for (const std::string_view no : {"false", "no", "off", "0"}) {
    if (lower == no) {
      return false;
    }
  }
  return Expected(text, "true or false");
}

absl::StatusOr<int> ParseEnum(std::string_view text, const EnumDescriptor& type) {
  const std::string lower = LowerAscii(text);
  for (int i = 0; i < type.value_count(); ++i) {
    const EnumValueDescriptor& value = *type.value(i);
    if (value.number() != 0 && LowerAscii(value.name()) == lower) {
      return value.number();
    }
  }
  return Expected(text, fmt::format("one of {}", EnumNames(type)));
}

// Sets, replaces or appends, by index.
template <typename Value, typename Set, typename SetItem, typename Add>
absl::Status Put(const absl::StatusOr<Value>& value, Message& message, const FieldDescriptor& field,
                 int index, Set set, SetItem set_item, Add add) {
  if (!value.ok()) {
    return value.status();
  }
  const Reflection& reflection = *message.GetReflection();
  if (index == kSingular) {
    (reflection.*set)(&message, &field, *value);
  } else if (index < reflection.FieldSize(message, &field)) {
    (reflection.*set_item)(&message, &field, index, *value);
  } else {
    (reflection.*add)(&message, &field, *value);
  }
  return absl::OkStatus();
}

// "farms/main/stores/web:a/b", "web:a/b", "web/a/b" -> store and path.
v1::Root ParseRoot(std::string_view text) {
  std::size_t from = 0;
  if (text.substr(0, 6) == "farms/") {
    for (int slashes = 0; slashes < 3 && from != std::string_view::npos; ++slashes) {
      from = text.find('/', from);
      from = from == std::string_view::npos ? from : from + 1;
    }
  }
  const std::size_t end = from == std::string_view::npos ? from : text.find_first_of(":/", from);
  v1::Root root;
  root.set_store(std::string(text.substr(0, end)));
  if (end != std::string_view::npos) {
    root.set_path(std::string(text.substr(end + 1)));
  }
  return root;
}

}  // namespace

std::vector<std::string_view> SplitList(std::string_view text) {
  std::vector<std::string_view> items;
  if (text.empty()) {
    return items;
  }
  for (std::string_view item : Split(text, ',')) {
    while (!item.empty() && item.front() == ' ') {
      item.remove_prefix(1);
    }
    while (!item.empty() && item.back() == ' ') {
      item.remove_suffix(1);
    }
    items.push_back(item);
  }
  return items;
}

std::vector<std::string> SplitShortForms(std::string_view text, const Descriptor& type) {
  if (&type == v1::Grant::descriptor()) {
    return SplitGrants(text);
  }
  const std::vector<std::string_view> items = SplitList(text);
  return {items.begin(), items.end()};
}

std::string EnumNames(const EnumDescriptor& type) {
  std::string names;
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() != 0) {
      names += names.empty() ? "" : ", ";
      names += type.value(i)->name();
    }
  }
  return names;
}

absl::Status PutScalar(Message& message, const FieldDescriptor& field, int index,
                       std::string_view text) {
  const v1::Unit unit = RuleOf(field).unit();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return Put(ParseNumber<std::int32_t>(text, unit), message, field, index,
                 &Reflection::SetInt32, &Reflection::SetRepeatedInt32, &Reflection::AddInt32);
    case FieldDescriptor::CPPTYPE_INT64:
      return Put(ParseNumber<std::int64_t>(text, unit), message, field, index,
                 &Reflection::SetInt64, &Reflection::SetRepeatedInt64, &Reflection::AddInt64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return Put(ParseNumber<std::uint32_t>(text, unit), message, field, index,
                 &Reflection::SetUInt32, &Reflection::SetRepeatedUInt32, &Reflection::AddUInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return Put(ParseNumber<std::uint64_t>(text, unit), message, field, index,
                 &Reflection::SetUInt64, &Reflection::SetRepeatedUInt64, &Reflection::AddUInt64);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return Put(ParseDouble(text), message, field, index, &Reflection::SetDouble,
                 &Reflection::SetRepeatedDouble, &Reflection::AddDouble);
    case FieldDescriptor::CPPTYPE_BOOL:
      return Put(ParseBool(text), message, field, index, &Reflection::SetBool,
                 &Reflection::SetRepeatedBool, &Reflection::AddBool);
    case FieldDescriptor::CPPTYPE_ENUM:
      return Put(ParseEnum(text, *field.enum_type()), message, field, index,
                 &Reflection::SetEnumValue, &Reflection::SetRepeatedEnumValue,
                 &Reflection::AddEnumValue);
    case FieldDescriptor::CPPTYPE_STRING:
      if (!IsUtf8(text)) {
        return Expected(text, "valid UTF-8");
      }
      return Put(absl::StatusOr<std::string>(std::string(text)), message, field, index,
                 &Reflection::SetString, &Reflection::SetRepeatedString, &Reflection::AddString);
    case FieldDescriptor::CPPTYPE_FLOAT:
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return absl::InvalidArgumentError("cannot be set as one value");
}

std::string ScalarText(const Message& message, const FieldDescriptor& field, int index) {
  const Reflection& reflection = *message.GetReflection();
  const auto get = [&](auto single, auto item) {
    return index == kSingular ? (reflection.*single)(message, &field)
                              : (reflection.*item)(message, &field, index);
  };
  const v1::Unit unit = RuleOf(field).unit();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return FormatQuantity(get(&Reflection::GetInt32, &Reflection::GetRepeatedInt32), unit);
    case FieldDescriptor::CPPTYPE_INT64:
      return FormatQuantity(get(&Reflection::GetInt64, &Reflection::GetRepeatedInt64), unit);
    case FieldDescriptor::CPPTYPE_UINT32:
      return FormatQuantity(get(&Reflection::GetUInt32, &Reflection::GetRepeatedUInt32), unit);
    case FieldDescriptor::CPPTYPE_UINT64:
      return std::to_string(get(&Reflection::GetUInt64, &Reflection::GetRepeatedUInt64));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return fmt::format("{}", get(&Reflection::GetDouble, &Reflection::GetRepeatedDouble));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return fmt::format("{}", get(&Reflection::GetFloat, &Reflection::GetRepeatedFloat));
    case FieldDescriptor::CPPTYPE_BOOL:
      return get(&Reflection::GetBool, &Reflection::GetRepeatedBool) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_ENUM: {
      const int number = get(&Reflection::GetEnumValue, &Reflection::GetRepeatedEnumValue);
      const auto* value = field.enum_type()->FindValueByNumber(number);
      return value == nullptr ? std::to_string(number) : value->name();
    }
    case FieldDescriptor::CPPTYPE_STRING:
      return get(&Reflection::GetString, &Reflection::GetRepeatedString);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return {};
}

bool HasShortForm(const Descriptor& type) {
  return &type == v1::Binding::descriptor() || &type == v1::Root::descriptor() ||
         &type == v1::StringList::descriptor() || &type == v1::StringMap::descriptor() ||
         &type == v1::Grant::descriptor() || &type == Timestamp::descriptor();
}

absl::Status ParseShortForm(std::string_view text, Message& message) {
  if (auto* binding = dynamic_cast<v1::Binding*>(&message)) {
    auto parsed = ParseBinding(text);
    if (!parsed.ok()) {
      return parsed.status();
    }
    *binding = *std::move(parsed);
    return absl::OkStatus();
  }
  if (auto* grant = dynamic_cast<v1::Grant*>(&message)) {
    auto parsed = ParseGrant(text);
    if (!parsed.ok()) {
      return parsed.status();
    }
    *grant = *std::move(parsed);
    return absl::OkStatus();
  }
  if (auto* root = dynamic_cast<v1::Root*>(&message)) {
    *root = ParseRoot(text);
    return absl::OkStatus();
  }
  if (auto* list = dynamic_cast<v1::StringList*>(&message)) {
    list->Clear();
    for (const std::string_view item : SplitList(text)) {
      list->add_values(std::string(item));
    }
    return absl::OkStatus();
  }
  if (auto* map = dynamic_cast<v1::StringMap*>(&message)) {
    auto entries = ParseStringEntries(text);
    if (!entries.ok()) {
      return entries.status();
    }
    WriteStringMap(*entries, *map->descriptor()->field(0), *map);
    return absl::OkStatus();
  }
  auto* time = dynamic_cast<Timestamp*>(&message);
  Check(time != nullptr, "ParseShortForm: the message has none");
  if (!google::protobuf::util::TimeUtil::FromString(std::string(text), time)) {
    return Expected(text, "a time such as 2026-01-31T12:00:00Z");
  }
  return absl::OkStatus();
}

std::string FormatShortForm(const Message& message) {
  if (const auto* binding = dynamic_cast<const v1::Binding*>(&message)) {
    return FormatBinding(*binding);
  }
  if (const auto* grant = dynamic_cast<const v1::Grant*>(&message)) {
    return FormatGrant(*grant);
  }
  if (const auto* root = dynamic_cast<const v1::Root*>(&message)) {
    return root->path().empty() ? root->store() : fmt::format("{}:{}", root->store(), root->path());
  }
  if (const auto* list = dynamic_cast<const v1::StringList*>(&message)) {
    return fmt::format("{}", fmt::join(list->values(), ","));
  }
  if (const auto* map = dynamic_cast<const v1::StringMap*>(&message)) {
    return FormatStringEntries(ReadStringMap(*map, *map->descriptor()->field(0)));
  }
  const auto* time = dynamic_cast<const Timestamp*>(&message);
  Check(time != nullptr, "FormatShortForm: the message has none");
  return google::protobuf::util::TimeUtil::ToString(*time);
}

}  // namespace croft::contract
