// Random bytes from the kernel. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace croft {

// Never 0.
std::uint64_t RandomId();

// `bytes` random bytes as lower-case hexadecimal, for tokens.
std::string RandomHex(int bytes);

}  // namespace croft
