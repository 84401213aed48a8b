// Fields addressed by path ("limits.max_body", "bindings"), for key=value on the command line,
// field masks and strict files. Pure.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <google/protobuf/field_mask.pb.h>
#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

#include "croft/v1/options.pb.h"

namespace croft::contract {

// Sets one field from text, by the field's type and unit ("512MiB", "20min", "true", "STARTED",
// "a,b,c" for lists of scalars, "+=" is the caller's). Message-typed list items have their own
// short forms: bindings ("*:80:shop.example"), roots ("store/path"), grants
// ("organizations/acme:OPERATOR"). invalid_argument names the
// path, the value, what is expected, and for an unknown field the nearest one.
// What follows a map's name in a path is the key, dots included: "labels.customer=acme".
absl::Status SetField(google::protobuf::Message& message, std::string_view path,
                      std::string_view value);
absl::Status ClearField(google::protobuf::Message& message, std::string_view path);
// Text of a field as SetField takes it; empty when unset.
absl::StatusOr<std::string> GetField(const google::protobuf::Message& message,
                                     std::string_view path);

// The field of `message`'s type nearest to a mistyped path, or empty.
std::string NearestPath(const google::protobuf::Message& message, std::string_view path);

// Copies the masked fields of `from` into `to` (AIP-134; "*": all but output-only ones). An unknown
// or output-only path is an error.
absl::Status ApplyMask(const google::protobuf::FieldMask& mask,
                       const google::protobuf::Message& from, google::protobuf::Message& to);

// A read mask may name output-only fields too; an unknown path is an error.
absl::Status CheckReadMask(const google::protobuf::FieldMask& mask,
                           const google::protobuf::Message& prototype);
// Leaves what a checked mask names, and name, uid and etag; everything if it is empty.
void ApplyReadMask(const google::protobuf::FieldMask& mask, google::protobuf::Message& resource);

// "30MB", "512MiB", "20min", "1h30m", "250ms", plain numbers (base unit).
absl::StatusOr<std::int64_t> ParseQuantity(std::string_view text, v1::Unit unit);
std::string FormatQuantity(std::int64_t value, v1::Unit unit);

}  // namespace croft::contract
