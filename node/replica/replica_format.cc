#include "node/replica/replica_format.h"

#include "node/replica/crc32c.h"

namespace croft::node::replica {
namespace {

constexpr std::size_t kCrcBytes = 4;

void AppendBigEndian(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>((value >> shift) & 0xFFU));
  }
}

std::uint64_t ReadBigEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char byte : bytes) {
    value = (value << 8) | static_cast<unsigned char>(byte);
  }
  return value;
}

}  // namespace

std::string EncodeInt(std::int64_t value) {
  std::string out;
  AppendBigEndian(out, static_cast<std::uint64_t>(value), 8);
  return out;
}

std::int64_t DecodeInt(std::string_view bytes) {
  return static_cast<std::int64_t>(ReadBigEndian(bytes.substr(0, 8)));
}

std::string EncodeKey(const Key& key) {
  std::string out(1, static_cast<char>(key.type));
  AppendBigEndian(out, static_cast<std::uint64_t>(key.uid), 8);
  return out;
}

std::optional<Key> DecodeKey(std::string_view bytes) {
  if (bytes.size() != 9 || !v1::RecordType_IsValid(bytes[0])) {
    return std::nullopt;
  }
  return Key{static_cast<v1::RecordType>(bytes[0]), DecodeInt(bytes.substr(1))};
}

std::string EncodeName(v1::RecordType type, std::string_view name) {
  std::string out(1, static_cast<char>(type));
  out.append(name);
  return out;
}

std::string Seal(std::string_view key, std::string_view payload) {
  std::string out;
  out.reserve(kCrcBytes + payload.size());
  AppendBigEndian(out, Crc32c(payload, Crc32c(key)), kCrcBytes);
  out.append(payload);
  return out;
}

std::optional<std::string_view> Unseal(std::string_view key, std::string_view value) {
  if (value.size() < kCrcBytes || value.size() > kValueBytesMax) {
    return std::nullopt;
  }
  const std::string_view payload = value.substr(kCrcBytes);
  if (ReadBigEndian(value.substr(0, kCrcBytes)) != Crc32c(payload, Crc32c(key))) {
    return std::nullopt;
  }
  return payload;
}

}  // namespace croft::node::replica
