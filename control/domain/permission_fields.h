// Which fields of a resource a write touches that need a permission beside the role, by the fields'
// rules. Pure.
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "croft/v1/options.pb.h"

namespace croft::control::domain {

struct PermissionField {
  std::string path;  // "applications[0].root.store"
  v1::Permission permission = v1::PERMISSION_UNSPECIFIED;
};

// Fields that are set in `after`, need a permission, and stand in a message that differs from the
// one at the same place in `before` (null: nothing is set there): another path in the same store is
// another use of the store. Items of a list are compared one by one.
std::vector<PermissionField> FindPermissionFields(const google::protobuf::Message* before,
                                                  const google::protobuf::Message& after);

}  // namespace croft::control::domain
