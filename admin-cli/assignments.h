// key=value arguments applied to a resource. Pure.
#pragma once

#include <absl/status/status.h>
#include <google/protobuf/field_mask.pb.h>
#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

namespace croft::admin_cli {

// Whether an argument is an assignment ("a=b", "a+=b", "a-=b", "a-") and no name.
bool IsAssignment(std::string_view argument);

// Applies the assignments in order and collects the field mask for an update. "key+=value" and
// "key-=value" add to and remove from a list; "key-" unsets. For a site, "root=STORE:PATH" and
// "pool=POOL" mean those of its application "/", which is made if need be.
absl::Status ApplyAssignments(const std::vector<std::string>& assignments, std::string_view farm,
                              google::protobuf::Message& resource,
                              google::protobuf::FieldMask& mask);

// Completes short names of pools, stores and organizations inside the message: "php" ->
// "farms/main/pools/php".
void QualifyNames(std::string_view farm, google::protobuf::Message& message);

}  // namespace croft::admin_cli
