// The fields of a type as key=value takes them: paths, what they accept, what they mean. Pure.
#pragma once

#include <absl/status/statusor.h>
#include <google/protobuf/descriptor.h>

#include <string>
#include <string_view>
#include <vector>

namespace croft::admin_cli {

struct FieldLine {
  std::string path;     // "settings.limits.max_body", "bindings", "applications[N].path"
  std::string accepts;  // "SIZE, 0 to 1TiB", "STARTED, STOPPED"
  std::string notes;    // "fixed at creation"; empty for an ordinary field
  const google::protobuf::FieldDescriptor* field = nullptr;
};

struct FieldList {
  std::vector<FieldLine> settable;
  std::vector<FieldLine> output_only;
};

// The fields below `path` ("" for all, "settings.limits", "bindings"), nested ones included.
// invalid_argument for a path the type does not have names the nearest.
absl::StatusOr<FieldList> ListFields(const google::protobuf::Descriptor& type,
                                     std::string_view path);

}  // namespace croft::admin_cli
