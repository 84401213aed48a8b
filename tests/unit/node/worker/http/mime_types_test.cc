#include "node/worker/http/mime_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

namespace croft::node::worker::http {
namespace {

TEST(MimeTypes, BuiltInTableIsSortedUniqueAndLowerCase) {
  const auto table = BuiltInMimeTypes();
  EXPECT_GT(table.size(), 150U);
  for (std::size_t i = 1; i < table.size(); ++i) {
    EXPECT_LT(table[i - 1].extension, table[i].extension);
  }
  for (const MimeEntry& entry : table) {
    EXPECT_TRUE(std::none_of(entry.extension.begin(), entry.extension.end(),
                             [](char c) { return c >= 'A' && c <= 'Z'; }));
    EXPECT_NE(entry.type.find('/'), std::string_view::npos);
  }
}

TEST(MimeTypes, FindsByTheLastExtensionInAnyCase) {
  EXPECT_EQ(FindMimeType("a/b/index.html", {}), "text/html");
  EXPECT_EQ(FindMimeType("PHOTO.JPG", {}), "image/jpeg");
  EXPECT_EQ(FindMimeType("x.tar.gz", {}), "application/gzip");
  EXPECT_EQ(FindMimeType("font.woff2", {}), "font/woff2");
}

TEST(MimeTypes, KnowsNothingOfFilesWithoutExtension) {
  for (const std::string_view name : {"", "README", "a.b/README", ".profile", "x.", "x.unheard-of",
                                      "x.an-extension-longer-than-any-we-know-of"}) {
    EXPECT_EQ(FindMimeType(name, {}), "") << name;
  }
}

TEST(MimeTypes, SitesOwnEntriesWinAndEmptyOnesRemove) {
  const MimeOverrides own = {{"html", "text/x-own"}, {"jpg", ""}, {"weird", "x/y"}};
  EXPECT_EQ(FindMimeType("a.html", own), "text/x-own");
  EXPECT_EQ(FindMimeType("a.jpg", own), "");
  EXPECT_EQ(FindMimeType("a.WEIRD", own), "x/y");
  EXPECT_EQ(FindMimeType("a.png", own), "image/png");
}

}  // namespace
}  // namespace croft::node::worker::http
