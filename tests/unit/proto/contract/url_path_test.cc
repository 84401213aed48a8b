#include "proto/contract/url_path.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/proto/contract/random_input.h"

namespace croft::contract {
namespace {

TEST(UrlPath, IsNormalised) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"/", "/"},
      {"/a/b", "/a/b"},
      {"/a/b/", "/a/b/"},
      {"//a///b//", "/a/b/"},
      {"/a/./b", "/a/b"},
      {"/a/.", "/a/"},
      {"/a/../b", "/b"},
      {"/a/b/..", "/a/"},
      {"/a/..", "/"},
      {"/.", "/"},
      {"/%61", "/a"},
      {"/%7Ebob/", "/~bob/"},
      {"/a/%2e%2E/b", "/b"},
      {"/a/.%2e/b", "/b"},
      {"/a%20b", "/a b"},
      {"/100%25", "/100%"},
      {"/100%25/x", "/100%/x"},
      {"/%25zz", "/%zz"},
      {"/%C3%BC", "/ü"},
      {"/ü", "/ü"},
      {"/...", "/..."},
      {"/.a/..b", "/.a/..b"},
      {"/a;v=1/x", "/a;v=1/x"},
      {"/a+b", "/a+b"},
      {"/a/%3F", "/a/?"},
  };
  for (const auto& [raw, path] : cases) {
    const UrlPath url = NormalizeUrlPath(raw);
    EXPECT_EQ(url.error, UrlPathError::kNone) << raw << ": " << Describe(url.error);
    EXPECT_EQ(url.path, path) << raw;
  }
}

TEST(UrlPath, RefusesWhatCouldMeanTwoThings) {
  const std::vector<std::pair<std::string, UrlPathError>> cases = {
      {"", UrlPathError::kNotAbsolute},
      {"a", UrlPathError::kNotAbsolute},
      {"*", UrlPathError::kNotAbsolute},
      {"/%", UrlPathError::kBadEscape},
      {"/%4", UrlPathError::kBadEscape},
      {"/%zz", UrlPathError::kBadEscape},
      {"/%u0041", UrlPathError::kBadEscape},
      {"/a%2Fb", UrlPathError::kEncodedSlash},
      {"/a%2fb", UrlPathError::kEncodedSlash},
      {"/a%5Cb", UrlPathError::kEncodedSlash},
      {"/a\\b", UrlPathError::kBackslash},
      {"/a%00b", UrlPathError::kControlCharacter},
      {"/a%0d%0ab", UrlPathError::kControlCharacter},
      {std::string("/a\0b", 4), UrlPathError::kControlCharacter},
      {"/a\x7f", UrlPathError::kControlCharacter},
      {"/%2520", UrlPathError::kDoubleEncoded},
      {"/%252e%252e/", UrlPathError::kDoubleEncoded},
      {"/%25%32%30", UrlPathError::kDoubleEncoded},
      {"/%2541", UrlPathError::kDoubleEncoded},
      {"/..", UrlPathError::kAboveRoot},
      {"/a/../..", UrlPathError::kAboveRoot},
      {"/%2e%2e/etc/passwd", UrlPathError::kAboveRoot},
      {"/./../x", UrlPathError::kAboveRoot},
      {"/%C0%AF", UrlPathError::kNotUtf8},
      {"/%ff", UrlPathError::kNotUtf8},
      {"/%ed%a0%80", UrlPathError::kNotUtf8},
  };
  for (const auto& [raw, error] : cases) {
    const UrlPath url = NormalizeUrlPath(raw);
    EXPECT_EQ(url.error, error) << raw << " -> " << url.path;
    EXPECT_FALSE(Describe(url.error).empty());
  }
}

TEST(UrlPathProperty, NeverHoldsADotSegmentAndEncodingComesBack) {
  RandomInput random(4);
  const std::vector<std::string> pieces = {"/",   "/",   "..",  ".",   "%2e", "%2E.", "a",
                                           "%25", "%41", "%2f", "%5c", "%",   "ü",    "%c3",
                                           "%bc", "%20", "41",  "~b",  "\\",  "%00",  "?"};
  int valid = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::string raw = "/" + random.Text(pieces, 9);
    const UrlPath once = NormalizeUrlPath(raw);
    if (once.error != UrlPathError::kNone) {
      continue;
    }
    ++valid;
    ASSERT_EQ(("/" + once.path + "/").find("/../"), std::string::npos) << raw;
    ASSERT_EQ(once.path.find("//"), std::string::npos) << raw;
    const UrlPath twice = NormalizeUrlPath(EncodeUrlPath(once.path));
    ASSERT_EQ(twice.error, UrlPathError::kNone) << raw;
    ASSERT_EQ(twice.path, once.path) << raw;
  }
  EXPECT_GT(valid, 5000);
}

TEST(ConfiguredPath, IsTakenLiterally) {
  EXPECT_EQ(*ParseConfiguredPath("/"), "/");
  EXPECT_EQ(*ParseConfiguredPath("/docs/"), "/docs");
  EXPECT_EQ(*ParseConfiguredPath("/a//b/./c/../d"), "/a/b/d");
  EXPECT_EQ(*ParseConfiguredPath("/100%"), "/100%");
  EXPECT_EQ(*ParseConfiguredPath("/a b"), "/a b");
  for (const std::string text : {"", "docs", "/..", "/a%20b", "/a\\b", "/a\nb", "/\xff"}) {
    EXPECT_FALSE(ParseConfiguredPath(text).ok()) << text;
  }
  EXPECT_FALSE(ParseConfiguredPath("/" + std::string(3000, 'a')).ok());
}

TEST(ConfiguredPathProperty, IsIdempotent) {
  RandomInput random(5);
  const std::vector<std::string> pieces = {"/", "..", ".", "a", "%", "%2", "ü", " ", "41", "//"};
  for (int i = 0; i < 20'000; ++i) {
    const auto once = ParseConfiguredPath("/" + random.Text(pieces, 8));
    if (once.ok()) {
      ASSERT_EQ(*ParseConfiguredPath(*once), *once);
    }
  }
}

TEST(RelativePath, StaysBelowItsStore) {
  EXPECT_EQ(*ParseRelativePath(""), "");
  EXPECT_EQ(*ParseRelativePath("sites/shop"), "sites/shop");
  EXPECT_EQ(*ParseRelativePath("sites/shop/"), "sites/shop");
  EXPECT_EQ(*ParseRelativePath("a..b/.c"), "a..b/.c");
  for (const std::string text :
       {"/a", "a//b", "..", "a/..", "a/../b", ".", "a/./b", "/", "a\nb", "a/\xff", "a//"}) {
    EXPECT_FALSE(ParseRelativePath(text).ok()) << text;
  }
  EXPECT_FALSE(ParseRelativePath(std::string(256, 'a')).ok());
  EXPECT_FALSE(ParseRelativePath(std::string("a\0b", 3)).ok());
}

}  // namespace
}  // namespace croft::contract
