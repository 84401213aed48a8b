// What text may contain, and how refused text is shown to people. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace croft::contract {

// Well-formed UTF-8: no overlong forms, no surrogates, at most U+10FFFF.
bool IsUtf8(std::string_view text);

// Whether a byte is an ASCII control character (0x00..0x1F, 0x7F).
bool IsControl(char c);
bool HasControl(std::string_view text);

// A-Z to a-z; nothing else changes.
std::string LowerAscii(std::string_view text);

// The parts between separators, empty ones included: "a//b" -> "a", "", "b"; "" -> "".
std::vector<std::string_view> Split(std::string_view text, char separator);

// At most `bytes_max` bytes, cut between characters, control characters and broken UTF-8 shown as
// '?'; "..." marks the cut.
std::string Shorten(std::string_view text, std::size_t bytes_max = 200);

}  // namespace croft::contract
