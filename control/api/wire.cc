#include "control/api/wire.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/unknown_field_set.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/proto_buffer_writer.h>
#include <grpcpp/support/status.h>

#include <vector>

#include "proto/base/error.h"
#include "proto/contract/errors.h"

namespace croft::control::api {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// The message's own recursion limit bounds the depth.
absl::Status RefuseUnknownFields(const Message& message) {
  const Reflection& reflection = *message.GetReflection();
  const auto& unknown = reflection.GetUnknownFields(message);
  if (!unknown.empty()) {
    return Error(
        absl::StatusCode::kInvalidArgument,
        "{} has a field number {} that this croft-control does not know; leave it out or upgrade "
        "control",
        message.GetDescriptor()->full_name(), unknown.field(0).number());
  }
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      continue;
    }
    const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      const Message& part = field->is_repeated() ? reflection.GetRepeatedMessage(message, field, i)
                                                 : reflection.GetMessage(message, field);
      if (absl::Status status = RefuseUnknownFields(part); !status.ok()) {
        return status;
      }
    }
  }
  return absl::OkStatus();
}

absl::Status NotA(const Message& message) {
  return Error(absl::StatusCode::kInvalidArgument, "the request is not a {}",
               message.GetDescriptor()->full_name());
}

}  // namespace

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) {
    return grpc::Status::OK;
  }
  return grpc::Status(static_cast<grpc::StatusCode>(status.raw_code()),
                      std::string(status.message()),
                      contract::CompleteDetail(status).SerializeAsString());
}

absl::Status Parse(const grpc::ByteBuffer& bytes, Message& message) {
  // The reader takes the buffer without changing it, and says so nowhere in its type.
  grpc::ByteBuffer view(bytes);
  grpc::ProtoBufferReader reader(&view);
  if (!message.ParseFromZeroCopyStream(&reader) || !reader.status().ok()) {
    return NotA(message);
  }
  return absl::OkStatus();
}

absl::Status ParseStrictly(std::string_view bytes, Message& message) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))
             ? RefuseUnknownFields(message)
             : NotA(message);
}

absl::Status ParseStrictly(const grpc::ByteBuffer& bytes, Message& message) {
  const absl::Status parsed = Parse(bytes, message);
  return parsed.ok() ? RefuseUnknownFields(message) : parsed;
}

grpc::ByteBuffer Serialize(const Message& message) {
  grpc::ByteBuffer bytes;
  bool own = false;
  // Can only fail for a message that lacks a required field, which proto3 has none of.
  static_cast<void>(
      grpc::GenericSerialize<grpc::ProtoBufferWriter, Message>(message, &bytes, &own));
  return bytes;
}

}  // namespace croft::control::api
