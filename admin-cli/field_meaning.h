// What explain says of a field beyond its form: default, who may set it, where it is inherited
// from, examples. From the API's comments and rules. Pure.
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>
#include <string_view>
#include <vector>

#include "admin-cli/field_list.h"
#include "admin-cli/nouns.h"
#include "proto/comments/api_comments.h"

namespace croft::admin_cli {

// As key=value takes it, with its unit: "30MB"; empty if there is none.
std::string DefaultOf(const google::protobuf::FieldDescriptor& field,
                      const comments::ApiComments& comments);
// "bytes", "milliseconds", "a number"; empty for what is no number.
std::string UnitOf(const google::protobuf::FieldDescriptor& field);
// Who may set a field of this type.
std::string SetBy(const Noun& noun, const google::protobuf::FieldDescriptor& field);
// Which levels inherit from which, and how; empty for what is not inherited.
std::string LevelsOf(const FieldLine& line);
// Commands that set and unset it.
std::vector<std::string> ExamplesOf(const Noun& noun, const FieldLine& line,
                                    const std::string& default_text);

}  // namespace croft::admin_cli
