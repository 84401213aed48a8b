#include "node/listener/log_line.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace croft::node::listener {
namespace {

TEST(LogValue, IsOneFieldOfUtf8WhateverTheVisitorSent) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "-"},
      {"a b\tc\r\nd", "a+b+c++d"},
      {"\x7f\x01", "++"},
      {"caf\xc3\xa9 \xe2\x98\x83", "caf\xc3\xa9+\xe2\x98\x83"},
      {"caf\xe9", "caf+"},      // Latin-1
      {"\xc3\xa9\x80", "+++"},  // a stray continuation
      {"\xed\xa0\x80", "+++"},  // a surrogate
      {"a\xc3", "a+"},          // cut in the middle of a character
      {std::string("a\0b", 3), "a+b"},
  };
  for (const auto& [value, want] : cases) {
    std::string line;
    AppendLogValue(value, line);
    EXPECT_EQ(line, want) << value;
  }
}

}  // namespace
}  // namespace croft::node::listener
