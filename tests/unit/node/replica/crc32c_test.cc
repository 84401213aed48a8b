#include "node/replica/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace croft::node::replica {
namespace {

// RFC 3720 B.4, and the check value of the catalogues.
TEST(Crc32c, KnowsTheStandardsExamples) {
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62A8AB43U);
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(Crc32c(""), 0U);
}

TEST(Crc32c, BothWaysAgreeAtEveryLengthAndSplit) {
  std::string text;
  for (int i = 0; i < 64; ++i) {
    text.push_back(static_cast<char>(i * 37));
    EXPECT_EQ(Crc32c(text), Crc32cPortable(text)) << i;
    const std::string_view view = text;
    EXPECT_EQ(Crc32c(view.substr(text.size() / 3), Crc32c(view.substr(0, text.size() / 3))),
              Crc32c(text));
  }
}

}  // namespace
}  // namespace croft::node::replica
