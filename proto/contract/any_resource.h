// Between a resource and croft.v1.Resource, which holds one of any type.
#pragma once

#include <google/protobuf/message.h>

#include <memory>

#include "croft/v1/resource.pb.h"

namespace croft::contract {

// The resource that is set; null when none is.
const google::protobuf::Message* Unwrap(const v1::Resource& any);
google::protobuf::Message* Unwrap(v1::Resource& any);

// REQUIRES: `resource` is of one of the oneof's types, as every resource is.
v1::Resource Wrap(const google::protobuf::Message& resource);

}  // namespace croft::contract
