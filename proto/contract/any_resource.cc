#include "proto/contract/any_resource.h"

#include "proto/base/check.h"

namespace croft::contract {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

const FieldDescriptor* FindSet(const v1::Resource& any) {
  return v1::Resource::GetReflection()->GetOneofFieldDescriptor(
      any, v1::Resource::descriptor()->oneof_decl(0));
}

}  // namespace

const Message* Unwrap(const v1::Resource& any) {
  const FieldDescriptor* field = FindSet(any);
  return field == nullptr ? nullptr : &v1::Resource::GetReflection()->GetMessage(any, field);
}

Message* Unwrap(v1::Resource& any) {
  const FieldDescriptor* field = FindSet(any);
  return field == nullptr ? nullptr : v1::Resource::GetReflection()->MutableMessage(&any, field);
}

v1::Resource Wrap(const Message& resource) {
  v1::Resource any;
  const google::protobuf::Descriptor& type = *v1::Resource::descriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    if (type.field(i)->message_type() == resource.GetDescriptor()) {
      v1::Resource::GetReflection()->MutableMessage(&any, type.field(i))->CopyFrom(resource);
      return any;
    }
  }
  Check(false, "croft.v1.Resource has no place for a type");
  return any;
}

}  // namespace croft::contract
