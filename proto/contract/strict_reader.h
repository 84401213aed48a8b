// YAML or JSON -> message, strictly: refuses duplicates, unknown and misplaced fields, and reports
// all errors with line, path and nearest valid name. (protobuf's own JSON parser is too lenient.)
// The text is untrusted; depth and size are bounded.
#pragma once

#include <absl/status/statusor.h>
#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

#include "croft/v1/error.pb.h"

namespace croft::contract {

struct DocumentNode;

struct ReadResult {
  std::vector<v1::FieldViolation> violations;  // the description begins with "line N: "
};

// One document into `message`. Field names as in the .proto; quantities with units; enum values by
// name, any letter case.
ReadResult ReadStrict(std::string_view text, google::protobuf::Message& message);

// The same for protobuf's JSON mapping, which programs speak: names in lowerCamelCase or as in the
// .proto, null for unset, enum values by name or number, masks as "a,b.c"; a text is no number's or
// boolean's stead but for int64. Beyond it, quantities with units and short forms are taken too.
ReadResult ReadStrictJson(std::string_view text, google::protobuf::Message& message);

// The same from a text that is a tree already; lines are the tree's.
ReadResult ReadStrict(const DocumentNode& root, google::protobuf::Message& message);
ReadResult ReadStrictJson(const DocumentNode& root, google::protobuf::Message& message);

// The message as YAML that ReadStrict takes back; output-only fields come too when `all`.
std::string WriteYaml(const google::protobuf::Message& message, bool all);
// The same as JSON (snake_case names, int64 as numbers up to 2^53, otherwise strings).
std::string WriteJson(const google::protobuf::Message& message, bool all);

}  // namespace croft::contract
