#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "proto/contract/field_path.h"
#include "proto/contract/settings_rules.h"

namespace croft::contract {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// A field that is inherited as a whole: a scalar, a list or a map.
bool IsValue(const FieldDescriptor& field) {
  return field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE ||
         field.message_type() == v1::StringList::descriptor() ||
         field.message_type() == v1::StringMap::descriptor();
}

bool IsSet(const Message& settings, const std::vector<const FieldDescriptor*>& path) {
  const Message* at = &settings;
  for (const FieldDescriptor* field : path) {
    if (!at->GetReflection()->HasField(*at, field)) {
      return false;
    }
    if (field != path.back()) {
      at = &at->GetReflection()->GetMessage(*at, field);
    }
  }
  return true;
}

// Calls visit(path of fields) for every value below `type`, in the order of the .proto.
template <typename Visit>
void ForEachValue(const Descriptor& type, std::vector<const FieldDescriptor*>& path,
                  const Visit& visit) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    path.push_back(&field);
    if (IsValue(field)) {
      visit(path);
    } else {
      ForEachValue(*field.message_type(), path, visit);
    }
    path.pop_back();
  }
}

std::string Join(const std::vector<const FieldDescriptor*>& path) {
  std::string text;
  for (const FieldDescriptor* field : path) {
    text += text.empty() ? "" : ".";
    text += field->name();
  }
  return text;
}

}  // namespace

std::vector<v1::EffectiveValue> ExplainSettings(std::span<const SettingsLayer> layers) {
  const v1::Settings effective = EffectiveSettings(layers);
  std::vector<v1::EffectiveValue> values;
  std::vector<const FieldDescriptor*> path;
  ForEachValue(*v1::Settings::descriptor(), path, [&](const auto& fields) {
    v1::EffectiveValue value;
    value.set_path(Join(fields));
    value.set_value(GetField(effective, value.path()).value_or(""));
    value.set_origin("default");
    for (const SettingsLayer& layer : layers) {
      if (layer.settings != nullptr && IsSet(*layer.settings, fields)) {
        value.set_origin(layer.origin);
      }
    }
    values.push_back(std::move(value));
  });
  return values;
}

}  // namespace croft::contract
