#include "proto/contract/host_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/contract/errors.h"
#include "tests/unit/proto/contract/random_input.h"

namespace croft::contract {
namespace {

using ::testing::HasSubstr;

TEST(HostName, BringsEveryFormToOne) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"shop.example", "shop.example"},
      {"SHOP.Example", "shop.example"},
      {"shop.example.", "shop.example"},
      {"localhost", "localhost"},
      {"bücher.example", "xn--bcher-kva.example"},
      {"BÜCHER.example", "xn--bcher-kva.example"},
      {"xn--bcher-kva.example", "xn--bcher-kva.example"},
      {"XN--BCHER-KVA.example", "xn--bcher-kva.example"},
      {"bu\u0308cher.example", "xn--bcher-kva.example"},  // decomposed
      {"straße.example", "xn--strae-oqa.example"},        // non-transitional
      {"ｓｈｏｐ.example", "shop.example"},
      {"shop。example", "shop.example"},
      {"日本語.example", "xn--wgv71a119e.example"},
      {"пример.example", "xn--e1afmkfd.example"},
      {"r3---sn-abc.example", "r3---sn-abc.example"},
      {"192.0.2.1", "192.0.2.1"},
      {"[2001:DB8:0:0:0:0:0:1]", "[2001:db8::1]"},
      {"[::1]", "[::1]"},
  };
  for (const auto& [text, canonical] : cases) {
    const auto parsed = ParseHostName(text);
    ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.status();
    EXPECT_EQ(*parsed, canonical) << text;
  }
}

TEST(HostName, SaysWhyANameIsRefused) {
  const std::string label64(64, 'a');
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "is empty"},
      {std::string(300, 'a'), "has 300 characters; at most 253"},
      {label64 + ".example", "has 64 characters; at most 63"},
      {"a..example", "label 2 is empty"},
      {".example", "label 1 is empty"},
      {".", "label 1 is empty"},
      {"my shop.example", "has a space"},
      {"my_shop.example", "underscore"},
      {"shop.exa\tmple", "control character"},
      {"http://shop.example", "the character \":\""},
      {"shop.example/x", "the character \"/\""},
      {"*.shop.example", "the character \"*\""},
      {"-shop.example", "hyphen"},
      {"shop-.example", "hyphen"},
      {"pаypal.example", "mixes Latin and Cyrillic"},
      {"xn--pypal-4ve.example", "mixes"},
      {"gооgle.example", "mixes Latin and Cyrillic"},
      {"αbc.example", "mixes Greek and Latin"},
      {"xn--a.example", "international"},
      {"xn--.example", "international"},
      {"1.2.3", "no IPv4 address"},
      {"256.1.1.1", "no IPv4 address"},
      {"0x7f000001", "no IPv4 address"},
      {"[::1", "IPv6"},
      {"[fe80::1%eth0]", "IPv6"},
      {"[]", "IPv6"},
      {"[", "IPv6"},
      {"\xff.example", "UTF-8"},
  };
  for (const auto& [text, reason] : cases) {
    const auto parsed = ParseHostName(text);
    ASSERT_FALSE(parsed.ok()) << text << " -> " << *parsed;
    EXPECT_THAT(std::string(MessageOf(parsed.status())), HasSubstr(reason)) << text;
  }
}

TEST(HostName, TakesTheScriptsOfOneLanguageTogether) {
  for (const std::string text :
       {"日本語ひらがなカタカナabc.example", "한국漢字.example", "ไทย.example", "मराठी.example",
        "عربي.example", "пример.straße.example"}) {
    EXPECT_TRUE(ParseHostName(text).ok()) << text << ": " << ParseHostName(text).status();
  }
}

TEST(HostName, TakesTheLongestName) {
  const std::string label(61, 'a');
  const std::string name = label + "." + label + "." + label + "." + label + ".aaaaa";  // 253
  ASSERT_EQ(name.size(), 253U);
  EXPECT_TRUE(ParseHostName(name).ok());
  EXPECT_TRUE(ParseHostName(name + ".").ok());
  EXPECT_FALSE(ParseHostName(name + "a").ok());
}

TEST(HostName, BindingHostTakesAStarInTheFirstLabelOnly) {
  EXPECT_EQ(*ParseBindingHost(""), "");
  EXPECT_EQ(*ParseBindingHost("*.Shop.example"), "*.shop.example");
  EXPECT_EQ(*ParseBindingHost("*.bücher.example"), "*.xn--bcher-kva.example");
  for (const char* text : {"*", "*.", "a.*.example", "*a.example", "*.*.example", "*.192.0.2.1",
                           "*.[::1]", "**.example"}) {
    EXPECT_FALSE(ParseBindingHost(text).ok()) << text;
  }
}

TEST(HostHeader, SplitsNameAndPort) {
  struct Case {
    std::string value, host;
    std::optional<std::uint16_t> port;
  };
  const std::vector<Case> cases = {
      {"shop.example", "shop.example", std::nullopt},
      {"SHOP.example:8080", "shop.example", 8080},
      {"shop.example.", "shop.example", std::nullopt},
      {"shop.example.:80", "shop.example", 80},
      {"shop.example:", "shop.example", std::nullopt},
      {"my_app", "my_app", std::nullopt},
      {"192.0.2.1:81", "192.0.2.1", 81},
      {"[::1]", "[::1]", std::nullopt},
      {"[2001:DB8::0:1]:65535", "[2001:db8::1]", 65535},
      {"", "", std::nullopt},
  };
  for (const Case& c : cases) {
    const auto header = ParseHostHeader(c.value);
    ASSERT_TRUE(header.ok()) << c.value << ": " << header.status();
    EXPECT_EQ(header->host, c.host) << c.value;
    EXPECT_EQ(header->port, c.port) << c.value;
  }
}

TEST(HostHeader, RefusesWhatIsNoHost) {
  for (const std::string value :
       {"a b", "a..b", ".a", ".", ":80", "shop.example:65536", "shop.example:x",
        "shop.example:080000", "[::1", "[::1]x", "[::1]:x", "[shop]", "bücher.example", "a/b",
        "a@b", "user@a:80", "a,b", "shop%2eexample", "::1"}) {
    EXPECT_FALSE(ParseHostHeader(value).ok()) << value;
  }
  EXPECT_FALSE(ParseHostHeader(std::string(254, 'a')).ok());
  EXPECT_FALSE(ParseHostHeader(std::string(64, 'a') + ".example").ok());
}

const std::vector<std::string> kPieces = {
    "a", "B", "-", ".",  "xn--", "ü",  "ß",      "1", "0x",   "[", "::", "]", ":",
    "_", " ", "п", "語", "*",    "。", "\u200d", "9", "\xc3", "é", "Ａ", "ﬁ"};

TEST(HostNameProperty, ParsingIsIdempotentAndAgreesWithTheHostHeader) {
  RandomInput random(1);
  int valid = 0;
  for (int i = 0; i < 50'000; ++i) {
    const std::string text = random.Text(kPieces, 8);
    const auto once = ParseHostName(text);
    if (!once.ok()) {
      continue;
    }
    ++valid;
    const auto twice = ParseHostName(*once);
    ASSERT_TRUE(twice.ok()) << text << " -> " << *once << ": " << twice.status();
    ASSERT_EQ(*once, *twice) << text;
    const auto header = ParseHostHeader(*once + ":80");
    ASSERT_TRUE(header.ok()) << *once;
    ASSERT_EQ(header->host, *once);
    ASSERT_EQ(*ParseHostName(DisplayHostName(*once)), *once);
  }
  EXPECT_GT(valid, 500);
}

TEST(HostName, IsShownWithItsOwnLetters) {
  EXPECT_EQ(DisplayHostName("xn--bcher-kva.example"), "bücher.example");
  EXPECT_EQ(DisplayHostName("*.xn--bcher-kva.example"), "*.bücher.example");
  EXPECT_EQ(DisplayHostName("xn--a.example"), "xn--a.example");
  EXPECT_EQ(DisplayHostName("shop.example"), "shop.example");
}

}  // namespace
}  // namespace croft::contract
