#include <google/protobuf/descriptor.h>
#include <google/protobuf/timestamp.pb.h>

#include "croft/v1/settings.pb.h"
#include "proto/contract/document.h"
#include "proto/contract/field_path.h"
#include "proto/contract/field_rules.h"
#include "proto/contract/field_text.h"
#include "proto/contract/strict_reader.h"
#include "proto/contract/string_map.h"

namespace croft::contract {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::Timestamp;
using Kind = DocumentNode::Kind;

struct WriteOptions {
  bool all = false;    // output-only fields too
  bool units = false;  // "30MB" instead of 30000000
};

DocumentNode Scalar(std::string text, bool is_string) {
  DocumentNode node;
  node.kind = Kind::kScalar;
  node.text = std::move(text);
  node.is_string = is_string;
  return node;
}

DocumentNode BuildInteger(std::int64_t value, v1::Unit unit, const WriteOptions& options) {
  constexpr std::int64_t kExactInDouble = std::int64_t{1} << 53;
  if (options.units) {
    return Scalar(FormatQuantity(value, unit), false);
  }
  return Scalar(std::to_string(value), value > kExactInDouble || value < -kExactInDouble);
}

DocumentNode BuildMessage(const Message& message, const WriteOptions& options);

DocumentNode BuildValue(const Message& message, const FieldDescriptor& field, int index,
                        const WriteOptions& options) {
  const Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return BuildMessage(index == kSingular
                              ? reflection.GetMessage(message, &field)
                              : reflection.GetRepeatedMessage(message, &field, index),
                          options);
    case FieldDescriptor::CPPTYPE_INT64:
      return BuildInteger(index == kSingular ? reflection.GetInt64(message, &field)
                                             : reflection.GetRepeatedInt64(message, &field, index),
                          RuleOf(field).unit(), options);
    case FieldDescriptor::CPPTYPE_STRING:
    case FieldDescriptor::CPPTYPE_ENUM:
    case FieldDescriptor::CPPTYPE_UINT64:
      return Scalar(ScalarText(message, field, index), true);
    case FieldDescriptor::CPPTYPE_INT32:
      return BuildInteger(index == kSingular ? reflection.GetInt32(message, &field)
                                             : reflection.GetRepeatedInt32(message, &field, index),
                          RuleOf(field).unit(), options);
    case FieldDescriptor::CPPTYPE_UINT32:
      return BuildInteger(index == kSingular ? reflection.GetUInt32(message, &field)
                                             : reflection.GetRepeatedUInt32(message, &field, index),
                          RuleOf(field).unit(), options);
    default:
      return Scalar(ScalarText(message, field, index), false);
  }
}

DocumentNode BuildList(const Message& message, const FieldDescriptor& field,
                       const WriteOptions& options) {
  DocumentNode list;
  list.kind = Kind::kList;
  for (int i = 0; i < message.GetReflection()->FieldSize(message, &field); ++i) {
    list.items.push_back(BuildValue(message, field, i, options));
  }
  return list;
}

DocumentNode BuildEntries(const Message& message, const FieldDescriptor& field) {
  DocumentNode node;
  node.kind = Kind::kMap;
  for (const auto& [key, value] : ReadStringMap(message, field)) {
    node.members.push_back({key, 0, Scalar(value, true)});
  }
  return node;
}

DocumentNode BuildMessage(const Message& message, const WriteOptions& options) {
  if (const auto* list = dynamic_cast<const v1::StringList*>(&message)) {
    return BuildList(*list, *list->descriptor()->FindFieldByName("values"), options);
  }
  if (const auto* map = dynamic_cast<const v1::StringMap*>(&message)) {
    return BuildEntries(*map, *map->descriptor()->field(0));
  }
  if (message.GetDescriptor() == Timestamp::descriptor()) {
    return Scalar(FormatShortForm(message), true);
  }
  DocumentNode node;
  node.kind = Kind::kMap;
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (options.all || !RuleOf(*field).output_only()) {
      node.members.push_back({field->name(), 0,
                              field->is_map() ? BuildEntries(message, *field)
                              : field->is_repeated()
                                  ? BuildList(message, *field, options)
                                  : BuildValue(message, *field, kSingular, options)});
    }
  }
  return node;
}

}  // namespace

std::string WriteYaml(const Message& message, bool all) {
  return RenderYaml(BuildMessage(message, {all, true}));
}

std::string WriteJson(const Message& message, bool all) {
  return RenderJson(BuildMessage(message, {all, false}));
}

}  // namespace croft::contract
