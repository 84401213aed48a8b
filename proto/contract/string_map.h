// map<string, string> fields of any message, such as labels, by reflection; and their text form
// "a=x,b=y". Pure.
#pragma once

#include <absl/status/statusor.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <map>
#include <string>
#include <string_view>

namespace croft::contract {

using StringEntries = std::map<std::string, std::string, std::less<>>;

// REQUIRES, of both: `field` is a map<string, string> of the message.
StringEntries ReadStringMap(const google::protobuf::Message& message,
                            const google::protobuf::FieldDescriptor& field);
// Replaces all entries.
void WriteStringMap(const StringEntries& entries, const google::protobuf::FieldDescriptor& field,
                    google::protobuf::Message& message);

// The labels of a resource.
StringEntries LabelsOf(const google::protobuf::Message& resource);

absl::StatusOr<StringEntries> ParseStringEntries(std::string_view text);
std::string FormatStringEntries(const StringEntries& entries);

}  // namespace croft::contract
