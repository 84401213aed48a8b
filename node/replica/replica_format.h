// What is in a replica: an LMDB environment of one fixed 64 GiB map, four tables.
//   records   type (1 byte) uid (8, big endian)  -> crc32c (4) revision (8) body; crc over key, revision and body
//   names     type (1 byte) resource name        -> uid (8)
//   bindings  contract::EncodeBindingKey         -> site uid (8)
//   meta      "position", "snapshot", "quarantine/TYPE UID", "generation" -> see writer.cc
// A name or a binding is removed only if it still points at the record that goes. No read transaction lives across a suspension.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "croft/node/v1/feed.pb.h"

namespace croft::node::replica {

inline constexpr std::size_t kMapBytes = std::size_t{64} << 30;
inline constexpr int kTables = 4;
inline constexpr unsigned kReadersMax = 512;

struct Key {
  v1::RecordType type = v1::RECORD_TYPE_UNSPECIFIED;
  std::int64_t uid = 0;
};

}  // namespace croft::node::replica
