// Between gRPC's terms and ours: statuses and message bytes. Pure; thread-safe.
#pragma once

#include <absl/status/status.h>
#include <google/protobuf/message.h>

#include <string_view>

#include "control/api/grpc_types.h"

namespace croft::control::api {

// The same code and message, with the error detail serialised in the details.
grpc::Status ToGrpc(const absl::Status& status);

// invalid_argument when the bytes are no such message.
absl::Status Parse(const grpc::ByteBuffer& bytes, google::protobuf::Message& message);
// Also refuses fields that this version does not know: what an operator sets and control ignores in
// silence is the worst kind of setting.
absl::Status ParseStrictly(const grpc::ByteBuffer& bytes, google::protobuf::Message& message);
absl::Status ParseStrictly(std::string_view bytes, google::protobuf::Message& message);
grpc::ByteBuffer Serialize(const google::protobuf::Message& message);

}  // namespace croft::control::api
