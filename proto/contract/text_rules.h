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

// ASCII only, whatever the locale and the signedness of char.
inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline char LowerAscii(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
// The value of a hexadecimal digit, -1 if it is none.
inline int HexValue(char c) {
  const char lower = LowerAscii(c);
  return IsDigit(c) ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// A-Z to a-z; nothing else changes.
std::string LowerAscii(std::string_view text);

// The parts between separators, empty ones included: "a//b" -> "a", "", "b"; "" -> "".
std::vector<std::string_view> Split(std::string_view text, char separator);

// At most `bytes_max` bytes, cut between characters, control characters and broken UTF-8 shown as
// '?'; "..." marks the cut.
std::string Shorten(std::string_view text, std::size_t bytes_max = 200);

}  // namespace croft::contract
