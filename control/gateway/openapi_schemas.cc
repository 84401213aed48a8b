#include "control/gateway/openapi_schemas.h"

#include <google/protobuf/field_mask.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <utility>

#include "proto/contract/field_rules.h"

namespace croft::control::gateway {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

JsonNode Typed(const char* type, const char* format = nullptr) {
  JsonNode schema = JsonMap();
  JsonPut(schema, "type", JsonText(type));
  if (format != nullptr) {
    JsonPut(schema, "format", JsonText(format));
  }
  return schema;
}

// What is set by control has its own word in the schema, and so have bounds.
void PutRule(const v1::FieldRule& rule, JsonNode& schema) {
  if (rule.output_only()) {
    JsonPut(schema, "readOnly", JsonBare("true"));
  }
  if (rule.has_minimum()) {
    JsonPut(schema, "minimum", JsonBare(std::to_string(rule.minimum())));
  }
  if (rule.has_maximum()) {
    JsonPut(schema, "maximum", JsonBare(std::to_string(rule.maximum())));
  }
  if (rule.immutable()) {
    JsonPut(schema, "x-immutable", JsonBare("true"));
  }
  if (rule.indexed()) {
    JsonPut(schema, "x-filterable", JsonBare("true"));
  }
  if (rule.unit() != v1::UNIT_UNSPECIFIED) {
    JsonPut(schema, "x-unit", JsonText(v1::Unit_Name(rule.unit())));
  }
}

JsonNode BuildEnum(const EnumDescriptor& type) {
  JsonNode schema = Typed("string");
  JsonNode values = JsonList();
  for (int i = 0; i < type.value_count(); ++i) {
    values.items.push_back(JsonText(type.value(i)->name()));
  }
  JsonPut(schema, "enum", std::move(values));
  return schema;
}

// Written as a text, which keeps every digit; a number is read too.
JsonNode BuildInt64() {
  JsonNode schema = JsonMap();
  JsonPut(schema, "type", JsonList({JsonText("string"), JsonText("integer")}));
  JsonPut(schema, "format", JsonText("int64"));
  return schema;
}

}  // namespace

JsonNode OpenApiSchemas::Refer(const Descriptor& message) {
  if (&message == google::protobuf::Timestamp::descriptor()) {
    return Typed("string", "date-time");
  }
  if (&message == google::protobuf::FieldMask::descriptor()) {
    JsonNode schema = Typed("string");
    JsonPut(schema, "examples", JsonList({JsonText("state,settings.limits")}));
    return schema;
  }
  const std::string name = message.full_name();
  if (schemas_.emplace(name, JsonMap()).second) {  // before its fields: they may lead back here
    schemas_[name] = BuildMessage(message);
  }
  JsonNode reference = JsonMap();
  JsonPut(reference, "$ref", JsonText("#/components/schemas/" + name));
  return reference;
}

JsonNode OpenApiSchemas::BuildMessage(const Descriptor& message) {
  JsonNode schema = Typed("object");
  if (std::string comment = comments_.Of(message.full_name()); !comment.empty()) {
    JsonPut(schema, "description", JsonText(std::move(comment)));
  }
  JsonNode properties = JsonMap();
  JsonNode required = JsonList();
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    JsonPut(properties, field.json_name(), BuildField(field));
    if (contract::RuleOf(field).required()) {
      required.items.push_back(JsonText(field.json_name()));
    }
  }
  JsonPut(schema, "properties", std::move(properties));
  if (!required.items.empty()) {
    JsonPut(schema, "required", std::move(required));
  }
  JsonPut(schema, "additionalProperties", JsonBare("false"));
  return schema;
}

JsonNode OpenApiSchemas::BuildField(const FieldDescriptor& field) {
  JsonNode schema;
  if (field.is_map()) {
    schema = Typed("object");
    JsonPut(schema, "additionalProperties", BuildValue(*field.message_type()->map_value()));
  } else if (field.is_repeated()) {
    schema = Typed("array");
    JsonPut(schema, "items", BuildValue(field));
  } else {
    schema = BuildValue(field);
  }
  if (std::string comment = comments_.Of(field); !comment.empty()) {
    JsonPut(schema, "description", JsonText(std::move(comment)));
  }
  PutRule(contract::RuleOf(field), schema);
  return schema;
}

JsonNode OpenApiSchemas::BuildValue(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return Refer(*field.message_type());
    case FieldDescriptor::CPPTYPE_ENUM:
      return BuildEnum(*field.enum_type());
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT64:
      return BuildInt64();
    case FieldDescriptor::CPPTYPE_INT32:
      return Typed("integer", "int32");
    case FieldDescriptor::CPPTYPE_UINT32:
      return Typed("integer", "uint32");
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return Typed("number", "double");
    case FieldDescriptor::CPPTYPE_BOOL:
      return Typed("boolean");
    case FieldDescriptor::CPPTYPE_STRING:
      return field.type() == FieldDescriptor::TYPE_BYTES ? Typed("string", "byte")
                                                         : Typed("string");
  }
  return JsonMap();
}

}  // namespace croft::control::gateway
