// Messages as the gateway's bodies carry them. Reading is strict in either form: what an operator
// sends and control ignores in silence is the worst kind of setting. Pure.
#pragma once

#include <absl/status/status.h>
#include <google/protobuf/message.h>

#include <optional>
#include <string>
#include <string_view>

namespace croft::control::gateway {

enum class Codec {
  kJson,
  kProto,
  kJsonLines,  // a message a line
};

// "application/json; charset=utf-8" -> kJson; nullopt for what is not taken.
std::optional<Codec> CodecOf(std::string_view content_type);

// invalid_argument with all violations.
absl::Status Decode(std::string_view body, Codec codec, google::protobuf::Message& message);
// Protobuf's JSON mapping: lowerCamelCase, int64 as texts; without a line's end.
std::string Encode(const google::protobuf::Message& message, Codec codec);

}  // namespace croft::control::gateway
