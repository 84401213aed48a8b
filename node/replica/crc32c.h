// CRC-32C (Castagnoli, RFC 3720 B.4), by the processor's instruction where it has one. Pure; any
// thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace croft::node::replica {

// Continues `crc`, which is 0 for the first piece: Crc32c("b", Crc32c("a")) == Crc32c("ab").
std::uint32_t Crc32c(std::string_view bytes, std::uint32_t crc = 0) noexcept;

// The same without the instruction, for other processors and for the test that compares the two.
std::uint32_t Crc32cPortable(std::string_view bytes, std::uint32_t crc = 0) noexcept;

}  // namespace croft::node::replica
