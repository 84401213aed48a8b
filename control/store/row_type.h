// How a resource's type is written in a row, and which of them nodes know. The numbers are stored:
// never change one.
#pragma once

#include <optional>

#include "croft/node/v1/feed.pb.h"
#include "proto/contract/resource_name.h"

namespace croft::control::store {

// The RecordType's number for what nodes know, above 100 for the rest. Record order is number
// order.
int TypeNumber(contract::ResourceType type);
std::optional<contract::ResourceType> TypeOfNumber(int number);

// RECORD_TYPE_UNSPECIFIED for what no node needs.
node::v1::RecordType RecordTypeOf(contract::ResourceType type);

}  // namespace croft::control::store
