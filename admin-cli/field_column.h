// A column of a listing of resources: a field by its path, through lists too. Pure.
#pragma once

#include <absl/status/status.h>
#include <google/protobuf/message.h>

#include <string>
#include <string_view>

namespace croft::admin_cli {

// Whether the type of `empty` has the path: "state", "bindings.host", "labels.tier",
// "applications[0].pool". invalid_argument names the nearest.
absl::Status CheckColumn(const google::protobuf::Message& empty, std::string_view path);

// The field's text; of a path through a list the items' texts with commas. Empty when unset.
std::string ColumnText(const google::protobuf::Message& message, std::string_view path);

}  // namespace croft::admin_cli
