// What is in a replica: an LMDB environment of one fixed 64 GiB map, four tables. Every value
// begins with a CRC-32C (4 bytes, big endian) over its key and the rest of the value, since LMDB
// does not see torn sectors.
//   records   type (1 byte) uid (8, big endian)  -> crc, revision (8), body
//   names     type (1 byte) resource name        -> crc, uid (8)
//   bindings  contract::EncodeBindingKey         -> crc, site uid (8)
//   meta      "position", "snapshot", "partial", "quarantine/" record key, "vanishing/" site uid ->
//   crc, message (or nothing)
// A name or a binding is removed only if it still points at the record that goes. No read
// transaction lives across a suspension.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "croft/node/v1/feed.pb.h"

namespace croft::node::replica {

inline constexpr std::size_t kMapBytes = std::size_t{64} << 30;
inline constexpr int kTables = 4;
inline constexpr unsigned kReadersMax = 512;
// A larger value is damage: nothing of that size is ever written.
inline constexpr std::size_t kValueBytesMax = std::size_t{16} << 20;
// LMDB's own limit.
inline constexpr std::size_t kKeyBytesMax = 511;

inline constexpr std::string_view kPositionKey = "position";
inline constexpr std::string_view kSnapshotKey = "snapshot";
inline constexpr std::string_view kPartialKey = "partial";
inline constexpr std::string_view kQuarantinePrefix = "quarantine/";
inline constexpr std::string_view kVanishingPrefix = "vanishing/";

struct Key {
  v1::RecordType type = v1::RECORD_TYPE_UNSPECIFIED;
  std::int64_t uid = 0;

  friend auto operator<=>(const Key&, const Key&) = default;
};

// Integers as 8 big-endian bytes, so that keys sort as numbers do.
std::string EncodeInt(std::int64_t value);
// REQUIRES: bytes.size() >= 8.
std::int64_t DecodeInt(std::string_view bytes);

std::string EncodeKey(const Key& key);
std::optional<Key> DecodeKey(std::string_view bytes);
std::string EncodeName(v1::RecordType type, std::string_view name);

// crc over `key` and `payload`, then `payload`.
std::string Seal(std::string_view key, std::string_view payload);
// The payload (a view into `value`), or nullopt if the checksum is wrong.
std::optional<std::string_view> Unseal(std::string_view key, std::string_view value);

}  // namespace croft::node::replica
