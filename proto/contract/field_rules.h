// The FieldRules of options.proto, applied to every field of a message by reflection. Pure.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string_view>

#include "croft/v1/options.pb.h"
#include "proto/contract/violations.h"

namespace croft::contract {

// Most items of any list or map, unless a type's own rules say less.
inline constexpr int kListItemsMax = 1000;
inline constexpr std::size_t kStringBytesMax = 4096;

inline const v1::FieldRule& RuleOf(const google::protobuf::FieldDescriptor& field) {
  return field.options().GetExtension(v1::rule);
}

// Required, smallest and largest values, known enum values, no control characters, bounded lists.
// Output-only fields are not judged. `path` is the path of `message` ("site.settings").
void CheckFieldRules(const google::protobuf::Message& message, std::string_view path,
                     ViolationList& violations);

}  // namespace croft::contract
