#include "control/gateway/codec.h"

#include <google/protobuf/util/json_util.h>

#include "control/api/wire.h"
#include "proto/contract/errors.h"
#include "proto/contract/strict_reader.h"
#include "proto/contract/text_rules.h"

namespace croft::control::gateway {

std::optional<Codec> CodecOf(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (!type.empty() && type.back() == ' ') {
    type.remove_suffix(1);
  }
  const std::string lower = contract::LowerAscii(type);
  if (lower == "application/json") {
    return Codec::kJson;
  }
  if (lower == "application/proto") {
    return Codec::kProto;
  }
  if (lower == "application/jsonl" || lower == "application/x-ndjson") {
    return Codec::kJsonLines;
  }
  return std::nullopt;
}

absl::Status Decode(std::string_view body, Codec codec, google::protobuf::Message& message) {
  if (codec == Codec::kProto) {
    return api::ParseStrictly(body, message);
  }
  return contract::InvalidFields(contract::ReadStrictJson(body, message).violations);
}

std::string Encode(const google::protobuf::Message& message, Codec codec) {
  if (codec == Codec::kProto) {
    return message.SerializeAsString();
  }
  std::string text;
  // Fails only for a google.protobuf.Any of an unknown type, which the API has none of.
  static_cast<void>(google::protobuf::util::MessageToJsonString(message, &text));
  return text;
}

}  // namespace croft::control::gateway
