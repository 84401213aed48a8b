#include "proto/comments/api_comments.h"

#include <google/protobuf/descriptor.pb.h>

#include <utility>
#include <vector>

#include "proto/base/check.h"

namespace croft::comments {
namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::EnumDescriptorProto;
using google::protobuf::FileDescriptorProto;
using google::protobuf::ServiceDescriptorProto;
using Path = std::vector<int>;
using Names = std::map<Path, std::string>;

std::string OneParagraph(const std::string& comment) {
  std::string text;
  for (const char c : comment) {
    const bool space = c == ' ' || c == '\n' || c == '\t';
    if (!space) {
      text += c;
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

// Values are siblings of their enumeration in protobuf's naming.
void AddEnum(const EnumDescriptorProto& type, const std::string& scope, const Path& path,
             Names& names) {
  names[path] = scope + "." + type.name();
  for (int i = 0; i < type.value_size(); ++i) {
    Path value = path;
    value.insert(value.end(), {EnumDescriptorProto::kValueFieldNumber, i});
    names[value] = scope + "." + type.value(i).name();
  }
}

// The place of every message, field and nested enumeration in its file, as descriptor.proto counts
// places.
void AddMessage(const DescriptorProto& message, const std::string& scope, Path path, Names& names) {
  const std::string name = scope + "." + message.name();
  names[path] = name;
  for (int i = 0; i < message.field_size(); ++i) {
    Path field = path;
    field.insert(field.end(), {DescriptorProto::kFieldFieldNumber, i});
    names[field] = name + "." + message.field(i).name();
  }
  for (int i = 0; i < message.enum_type_size(); ++i) {
    Path nested = path;
    nested.insert(nested.end(), {DescriptorProto::kEnumTypeFieldNumber, i});
    AddEnum(message.enum_type(i), name, nested, names);
  }
  for (int i = 0; i < message.nested_type_size(); ++i) {
    Path nested = path;
    nested.insert(nested.end(), {DescriptorProto::kNestedTypeFieldNumber, i});
    AddMessage(message.nested_type(i), name, nested, names);
  }
}

void AddService(const ServiceDescriptorProto& service, const std::string& package, const Path& path,
                Names& names) {
  const std::string name = package + "." + service.name();
  names[path] = name;
  for (int i = 0; i < service.method_size(); ++i) {
    Path method = path;
    method.insert(method.end(), {ServiceDescriptorProto::kMethodFieldNumber, i});
    names[method] = name + "." + service.method(i).name();
  }
}

void AddFile(const FileDescriptorProto& file, std::map<std::string, std::string>& comments) {
  Names names;
  for (int i = 0; i < file.message_type_size(); ++i) {
    AddMessage(file.message_type(i), file.package(),
               {FileDescriptorProto::kMessageTypeFieldNumber, i}, names);
  }
  for (int i = 0; i < file.enum_type_size(); ++i) {
    AddEnum(file.enum_type(i), file.package(), {FileDescriptorProto::kEnumTypeFieldNumber, i},
            names);
  }
  for (int i = 0; i < file.service_size(); ++i) {
    AddService(file.service(i), file.package(), {FileDescriptorProto::kServiceFieldNumber, i},
               names);
  }
  for (const auto& location : file.source_code_info().location()) {
    const auto at = names.find(Path(location.path().begin(), location.path().end()));
    if (at != names.end() && location.has_leading_comments()) {
      comments[at->second] = OneParagraph(location.leading_comments());
    }
  }
}

}  // namespace

ApiComments::ApiComments() {
  google::protobuf::FileDescriptorSet set;
  const auto bytes = CommentedApi();
  Check(set.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())),
        "the compiled-in descriptors are whole");
  for (const FileDescriptorProto& file : set.file()) {
    AddFile(file, comments_);
  }
}

std::string ApiComments::Of(const std::string& full_name) const {
  const auto at = comments_.find(full_name);
  return at == comments_.end() ? "" : at->second;
}

std::string ApiComments::Of(const google::protobuf::FieldDescriptor& field) const {
  std::string own = Of(field.full_name());
  if (own.empty() && field.message_type() != nullptr) {
    return Of(field.message_type()->full_name());
  }
  if (field.enum_type() == nullptr) {
    return own;
  }
  std::string text = own.empty() ? Of(field.enum_type()->full_name()) : own;
  for (int i = 0; i < field.enum_type()->value_count(); ++i) {
    const auto& value = *field.enum_type()->value(i);
    if (const std::string comment = Of(value.full_name());
        value.number() != 0 && !comment.empty()) {
      text += (text.empty() ? "" : " ") + value.name() + ": " + comment;
    }
  }
  return text;
}

}  // namespace croft::comments
