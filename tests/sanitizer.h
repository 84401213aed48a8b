// How much more time and memory a program takes under AddressSanitizer or ThreadSanitizer, whose
// presets run the same tests: their bounds on time and memory are multiplied by it. 1 in every
// other build.
#pragma once

namespace croft {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kSanitizerFactor = 4;
#else
inline constexpr int kSanitizerFactor = 1;
#endif

}  // namespace croft
