// One value of a field as text, by the field's type and unit, and the short forms of some messages.
// What the command line, strict files and explanations show and take. Pure.
#pragma once

#include <absl/status/status.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

namespace croft::contract {

// Index of a field that is no list.
inline constexpr int kSingular = -1;

// Sets a scalar or enum value from text; in a list an index equal to its size appends. The error
// says what is expected.
absl::Status PutScalar(google::protobuf::Message& message,
                       const google::protobuf::FieldDescriptor& field, int index,
                       std::string_view text);
std::string ScalarText(const google::protobuf::Message& message,
                       const google::protobuf::FieldDescriptor& field, int index);

// Enum values that may be given, the unspecified one left out: "STARTED, STOPPED".
std::string EnumNames(const google::protobuf::EnumDescriptor& type);

// The items of a comma-separated list, spaces around them removed; "" has none.
std::vector<std::string_view> SplitList(std::string_view text);

// Messages written as one text: Binding ("*:80:shop.example"), Root ("store:path"), Grant
// ("organizations/acme:OPERATOR"), StringList ("a,b"), StringMap ("a=x,b=y") and Timestamp
// (RFC 3339).
bool HasShortForm(const google::protobuf::Descriptor& type);
// REQUIRES: HasShortForm. Replaces all of `message`.
absl::Status ParseShortForm(std::string_view text, google::protobuf::Message& message);
std::string FormatShortForm(const google::protobuf::Message& message);
// The items of a list of such messages: at commas, but for those within a grant.
std::vector<std::string> SplitShortForms(std::string_view text,
                                         const google::protobuf::Descriptor& type);

}  // namespace croft::contract
