#include "admin-cli/request.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/field_mask.pb.h>

#include "proto/base/check.h"

namespace croft::admin_cli {
namespace {

const google::protobuf::FieldDescriptor& Field(const google::protobuf::Message& message,
                                               std::string_view name) {
  const auto* field = message.GetDescriptor()->FindFieldByName(std::string(name));
  Check(field != nullptr, "standard requests have their standard fields");
  return *field;
}

std::string Plural(const Noun& noun, std::string_view verb) {
  return std::string(noun.method) + (verb == "List" ? "s" : "");
}

}  // namespace

MessagePtr NewRequest(std::string_view verb, const Noun& noun) {
  return NewMessage("croft.v1." + std::string(verb) + Plural(noun, verb) + "Request");
}

std::string MethodOf(std::string_view verb, const Noun& noun) {
  return std::string(noun.service) + "/" + std::string(verb) + Plural(noun, verb);
}

void SetString(google::protobuf::Message& message, std::string_view field,
               const std::string& value) {
  message.GetReflection()->SetString(&message, &Field(message, field), value);
}

void SetBool(google::protobuf::Message& message, std::string_view field, bool value) {
  message.GetReflection()->SetBool(&message, &Field(message, field), value);
}

void SetMask(google::protobuf::Message& message, std::string_view field,
             const std::vector<std::string>& paths) {
  if (paths.empty()) {
    return;
  }
  google::protobuf::FieldMask mask;
  for (const std::string& path : paths) {
    mask.add_paths(path);
  }
  message.GetReflection()->MutableMessage(&message, &Field(message, field))->CopyFrom(mask);
}

void SetResource(google::protobuf::Message& request, const Noun& noun,
                 const google::protobuf::Message& resource) {
  request.GetReflection()->MutableMessage(&request, &Field(request, noun.noun))->CopyFrom(resource);
}

void SetWriteOptions(google::protobuf::Message& request, const Invocation& invocation) {
  SetBool(request, "validate_only", invocation.validate_only);
  SetString(request, "request_id", invocation.request_id);
  SetString(request, "reason", invocation.reason);
  if (request.GetDescriptor()->FindFieldByName("field_manager") != nullptr) {
    SetString(request, "field_manager", invocation.field_manager);
  }
  if (request.GetDescriptor()->FindFieldByName("force") != nullptr) {
    SetBool(request, "force", invocation.force);
  }
}

std::int64_t RevisionOf(const google::protobuf::Message& resource) {
  return resource.GetReflection()->GetInt64(resource, &Field(resource, "revision"));
}

std::string TextOf(const google::protobuf::Message& resource, std::string_view field) {
  return resource.GetReflection()->GetString(resource, &Field(resource, field));
}

}  // namespace croft::admin_cli
