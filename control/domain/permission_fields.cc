#include "control/domain/permission_fields.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/message_differencer.h>

#include "proto/base/error.h"

namespace croft::control::domain {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

void Find(const Message* before, const Message& after, const std::string& prefix,
          std::vector<PermissionField>& found);

void FindInList(const Message* before, const Message& after, const FieldDescriptor& field,
                const std::string& path, std::vector<PermissionField>& found) {
  const Reflection& reflection = *after.GetReflection();
  const int old_size = before == nullptr ? 0 : reflection.FieldSize(*before, &field);
  for (int i = 0; i < reflection.FieldSize(after, &field); ++i) {
    Find(i < old_size ? &reflection.GetRepeatedMessage(*before, &field, i) : nullptr,
         reflection.GetRepeatedMessage(after, &field, i), fmt::format("{}[{}].", path, i), found);
  }
}

void Find(const Message* before, const Message& after, const std::string& prefix,
          std::vector<PermissionField>& found) {
  if (before != nullptr && google::protobuf::util::MessageDifferencer::Equals(*before, after)) {
    return;
  }
  const Reflection& reflection = *after.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(after, &fields);
  for (const FieldDescriptor* field : fields) {
    const v1::Permission permission = field->options().GetExtension(v1::rule).permission();
    const std::string path = prefix + field->name();
    if (permission != v1::PERMISSION_UNSPECIFIED) {
      found.push_back({.path = path, .permission = permission});
    } else if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field->is_map()) {
      continue;
    } else if (field->is_repeated()) {
      FindInList(before, after, *field, path, found);
    } else {
      const bool was_set = before != nullptr && reflection.HasField(*before, field);
      Find(was_set ? &reflection.GetMessage(*before, field) : nullptr,
           reflection.GetMessage(after, field), path + ".", found);
    }
  }
}

}  // namespace

std::vector<PermissionField> FindPermissionFields(const Message* before, const Message& after) {
  std::vector<PermissionField> found;
  Find(before, after, "", found);
  return found;
}

}  // namespace croft::control::domain
