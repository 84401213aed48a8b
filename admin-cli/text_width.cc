#include "admin-cli/text_width.h"

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cstdint>

namespace croft::admin_cli {
namespace {

struct CodePoint {
  UChar32 value = 0;  // negative: the bytes are no UTF-8
  std::string_view bytes;
};

// REQUIRES: something is left.
CodePoint TakeCodePoint(std::string_view& rest) {
  std::int32_t length = 0;
  UChar32 value = 0;
  const auto size = static_cast<std::int32_t>(std::min<std::size_t>(rest.size(), 8));
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(rest.data());
  U8_NEXT(bytes, length, size, value);
  const CodePoint point{value, rest.substr(0, static_cast<std::size_t>(length))};
  rest.remove_prefix(static_cast<std::size_t>(length));
  return point;
}

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

std::size_t WidthOf(UChar32 value) {
  switch (u_charType(value)) {
    case U_NON_SPACING_MARK:
    case U_ENCLOSING_MARK:
    case U_FORMAT_CHAR:
      return 0;
    default:
      break;
  }
  const int width = u_getIntPropertyValue(value, UCHAR_EAST_ASIAN_WIDTH);
  return width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
}

// What a terminal would obey instead of showing it.
bool IsObeyed(UChar32 value) {
  constexpr UChar32 kEmbeddingFirst = 0x202A;  // U+202A to U+202E, U+2066 to U+2069
  constexpr UChar32 kEmbeddingLast = 0x202E;
  constexpr UChar32 kIsolateFirst = 0x2066;
  constexpr UChar32 kIsolateLast = 0x2069;
  const auto type = u_charType(value);
  return type == U_CONTROL_CHAR || type == U_LINE_SEPARATOR || type == U_PARAGRAPH_SEPARATOR ||
         (value >= kEmbeddingFirst && value <= kEmbeddingLast) ||
         (value >= kIsolateFirst && value <= kIsolateLast);
}

}  // namespace

std::size_t DisplayWidth(std::string_view text) {
  if (IsAscii(text)) {
    return text.size();
  }
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = TakeCodePoint(text);
    width += point.value < 0 ? 1 : WidthOf(point.value);
  }
  return width;
}

std::string Visible(std::string_view text, bool lines) {
  if (IsAscii(text)) {
    return std::string(text);
  }
  std::string visible;
  while (!text.empty()) {
    const CodePoint point = TakeCodePoint(text);
    if (point.value < 0) {
      for (const char byte : point.bytes) {
        visible += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      }
    } else if (IsObeyed(point.value) && !(lines && (point.value == '\n' || point.value == '\t'))) {
      visible += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(point.value));
    } else {
      visible += point.bytes;
    }
  }
  return visible;
}

}  // namespace croft::admin_cli
