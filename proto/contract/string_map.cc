#include "proto/contract/string_map.h"

#include "proto/base/check.h"
#include "proto/base/error.h"
#include "proto/contract/field_text.h"
#include "proto/contract/text_rules.h"

namespace croft::contract {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

StringEntries ReadStringMap(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  StringEntries entries;
  const int size = reflection.FieldSize(message, &field);
  for (int i = 0; i < size; ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    const Reflection& of_entry = *entry.GetReflection();
    entries[of_entry.GetString(entry, field.message_type()->map_key())] =
        of_entry.GetString(entry, field.message_type()->map_value());
  }
  return entries;
}

void WriteStringMap(const StringEntries& entries, const FieldDescriptor& field, Message& message) {
  const Reflection& reflection = *message.GetReflection();
  reflection.ClearField(&message, &field);
  for (const auto& [key, value] : entries) {
    Message& entry = *reflection.AddMessage(&message, &field);
    const Reflection& of_entry = *entry.GetReflection();
    of_entry.SetString(&entry, field.message_type()->map_key(), key);
    of_entry.SetString(&entry, field.message_type()->map_value(), value);
  }
}

StringEntries LabelsOf(const Message& resource) {
  const FieldDescriptor* field = resource.GetDescriptor()->FindFieldByName("labels");
  Check(field != nullptr, "LabelsOf: the message is no resource");
  return ReadStringMap(resource, *field);
}

absl::StatusOr<StringEntries> ParseStringEntries(std::string_view text) {
  StringEntries entries;
  for (const std::string_view entry : SplitList(text)) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return Error(absl::StatusCode::kInvalidArgument, "\"{}\": expected KEY=VALUE",
                   Shorten(entry, 60));
    }
    entries[std::string(entry.substr(0, equals))] = entry.substr(equals + 1);
  }
  return entries;
}

std::string FormatStringEntries(const StringEntries& entries) {
  std::string text;
  for (const auto& [key, value] : entries) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value);
  }
  return text;
}

}  // namespace croft::contract
