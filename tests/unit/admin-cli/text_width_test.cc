#include "admin-cli/text_width.h"

#include <gtest/gtest.h>

namespace croft::admin_cli {
namespace {

TEST(TextWidth, CountsATerminalsCells) {
  const struct {
    const char* text;
    std::size_t width;
  } cases[] = {
      {"", 0},       {"shop", 4},     {"b\u00fccher", 6}, {"bu\u0308cher", 6},
      {"日本語", 6}, {"한국", 4},     {"ｆｕｌｌ", 8},    {"مرحبا", 5},
      {"नमस्ते", 4},   {"a\u200bb", 2}, {"\U0001F600", 2},  {"\xff\xfe", 2},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(DisplayWidth(one.text), one.width) << one.text;
  }
}

TEST(TextWidth, WritesOutWhatATerminalWouldObey) {
  const struct {
    const char* text;
    const char* visible;
  } cases[] = {
      {"plain", "plain"},
      {"日本語 ü", "日本語 ü"},
      {"\x1b[31mred", "\\u001b[31mred"},
      {"a\nb\tc\rd", "a\\u000ab\\u0009c\\u000dd"},
      {"\x7f", "\\u007f"},
      {"\u009b2J", "\\u009b2J"},
      {"\u202egnp.exe", "\\u202egnp.exe"},
      {"\u2066x", "\\u2066x"},
      {"\u2028", "\\u2028"},
      {"\xff!", "\\xff!"},
      {"\xe2\x82", "\\xe2\\x82"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(Visible(one.text), one.visible);
  }
  EXPECT_EQ(Visible("a\nb\tc\x1b", true), "a\nb\tc\\u001b");
}

}  // namespace
}  // namespace croft::admin_cli
