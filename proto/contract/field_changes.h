// What differs between two versions of a resource, field by field, as operators read it: for
// history, undo, apply and the command line's diff. Pure.
#pragma once

#include <google/protobuf/message.h>

#include <vector>

#include "croft/v1/resource.pb.h"

namespace croft::contract {

// Two messages of one type; null: there is none, every field of the other one differs. In the order
// of the .proto. Left out: what only control sets, and a resource's name and etag.
//
// Paths are those of key=value, and so are the texts: "settings.limits.max_body", "labels.customer"
// for an entry of a map, "bindings" for a list as a whole; only a list whose items have no short
// form is compared item by item: "applications[0].pool". A value that is there but empty is shown
// as "" in quotes, a message without fields as {}: an empty text means unset.
std::vector<v1::FieldChange> DiffFields(const google::protobuf::Message* before,
                                        const google::protobuf::Message* after);

}  // namespace croft::contract
