// The comments of the API's .proto files, which are its reference: what a method, a type or a field
// means, its default. They are compiled in; reading them asks nobody.
#pragma once

#include <google/protobuf/descriptor.h>

#include <map>
#include <span>
#include <string>

namespace croft::comments {

// A serialised FileDescriptorSet with source locations, made by CMake.
std::span<const unsigned char> CommentedApi();

class ApiComments {
 public:
  ApiComments();

  // The comment before the declaration as one paragraph; empty if there is none. By full name.
  std::string Of(const std::string& full_name) const;
  // A field's own comment, else that of its message or enumeration; then those of the values.
  std::string Of(const google::protobuf::FieldDescriptor& field) const;

 private:
  std::map<std::string, std::string> comments_;
};

}  // namespace croft::comments
