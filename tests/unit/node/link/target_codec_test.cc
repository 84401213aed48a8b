#include "node/link/target_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace croft::node::link {
namespace {

TEST(TargetCodec, BringsBackWhatWasEncoded) {
  for (const std::string& root :
       {std::string(), std::string("homes/03/17/u4711"), std::string("a b,c/%41/ü"),
        std::string("\x01\xff"), std::string("sites/shop.example")}) {
    const auto decoded =
        DecodeTarget(EncodeTarget({.settings_number = 511, .strip = 9, .root = root}));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(decoded->settings_number, 511U);
    EXPECT_EQ(decoded->strip, 9U);
    EXPECT_EQ(decoded->root, root);
  }
}

TEST(TargetCodec, KeepsAUsualTargetBelowAHundredBytes) {
  EXPECT_EQ(EncodeTarget({.settings_number = 17, .strip = 4, .root = "homes/03/17/u4711"}),
            "17,4,homes/03/17/u4711");
}

TEST(TargetCodec, RefusesWhatIsNoTarget) {
  for (const std::string_view bad :
       {"", "1", "1,2", ",,", "-1,0,a", "+1,0,a", "512,0,a", "1,65537,a", "1, 2,a", "1,2,a b",
        "1,2,%", "1,2,%4", "1,2,%4z", "1,2,%00", "1,2,a\n", "99999999999999999999,0,a"}) {
    EXPECT_FALSE(DecodeTarget(bad).ok()) << bad;
  }
  EXPECT_FALSE(DecodeTarget("1,2," + std::string(9000, 'a')).ok());
}

TEST(TargetCodec, LeavesCommasInTheRootAlone) {
  const auto decoded = DecodeTarget("1,2,a%2Cb");
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->root, "a,b");
}

TEST(SettingsCodec, BringsBackWhatWasEncoded) {
  node::v1::TargetSettings settings;
  settings.set_site_uid(7);
  settings.set_store_uid(9);
  settings.set_store_path("/srv/content");
  settings.mutable_settings()->mutable_static_files()->set_etag(true);
  const auto decoded = DecodeSettings(EncodeSettings(3, settings));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->number, 3U);
  EXPECT_EQ(decoded->settings.store_path(), "/srv/content");
  EXPECT_TRUE(decoded->settings.settings().static_files().etag());
}

TEST(SettingsCodec, RefusesWhatIsNoSettings) {
  for (const std::string_view bad : {"", "=", "1", "512=", "1=%%%", "1=_w==x", "x=AA"}) {
    EXPECT_FALSE(DecodeSettings(bad).ok()) << bad;
  }
  EXPECT_FALSE(DecodeSettings("1=" + std::string(kSettingsBytesMax, 'A')).ok());
}

}  // namespace
}  // namespace croft::node::link
