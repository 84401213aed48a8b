// Everything that can be judged about one resource by itself; what needs other resources (a pool
// exists, a binding is free) is control's. Nodes use the same functions to decide on quarantine.
// Pure.
#pragma once

#include <google/protobuf/message.h>

#include <vector>

#include "croft/v1/error.pb.h"

namespace croft::contract {

// Brings a resource to canonical form (host names, paths, binding defaults, "organizations/root")
// where it is valid; leaves the rest.
void Normalize(google::protobuf::Message& resource);

// All violations, each with its field path ("site.bindings[2].host"), the value and the way out;
// empty if valid. Checks the FieldRules of every field by reflection, then the rules of the type.
std::vector<v1::FieldViolation> Validate(const google::protobuf::Message& resource);

}  // namespace croft::contract
