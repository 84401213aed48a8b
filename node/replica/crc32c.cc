#include "node/replica/crc32c.h"

#include <array>
#include <cstring>

namespace croft::node::replica {
namespace {

constexpr std::array<std::uint32_t, 256> MakeTable() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0x82F63B78U : 0U);
    }
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kTable = MakeTable();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t Crc32cSse(std::string_view bytes,
                                                          std::uint32_t crc) noexcept {
  std::uint64_t state = ~crc;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    state = __builtin_ia32_crc32di(state, word);
  }
  auto low = static_cast<std::uint32_t>(state);
  for (; left > 0; --left, ++at) {
    low = __builtin_ia32_crc32qi(low, static_cast<unsigned char>(*at));
  }
  return ~low;
}
#endif

}  // namespace

std::uint32_t Crc32cPortable(std::string_view bytes, std::uint32_t crc) noexcept {
  crc = ~crc;
  for (const char byte : bytes) {
    crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xFFU];
  }
  return ~crc;
}

std::uint32_t Crc32c(std::string_view bytes, std::uint32_t crc) noexcept {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) {
    return Crc32cSse(bytes, crc);
  }
#endif
  return Crc32cPortable(bytes, crc);
}

}  // namespace croft::node::replica
