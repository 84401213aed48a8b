// What a record is found by besides its uid, read from its body. Pure.
#pragma once

#include <absl/status/statusor.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "croft/node/v1/feed.pb.h"

namespace croft::node::replica {

// An empty croft.v1 message of the type; nullptr for a type this version does not know.
std::unique_ptr<google::protobuf::Message> NewRecordMessage(v1::RecordType type);

struct RecordKeys {
  std::string name;
  std::vector<std::string> bindings;  // encoded, ascending, each once
};

// invalid_argument if the body cannot be read as the type's message, or a key is longer than the
// replica can hold.
absl::StatusOr<RecordKeys> ReadRecordKeys(v1::RecordType type, std::string_view body);

}  // namespace croft::node::replica
