#include "proto/contract/settings_rules.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/unit/proto/contract/random_input.h"

namespace croft::contract {
namespace {

TEST(Settings, DefaultsSetEveryField) {
  for (const v1::EffectiveValue& value : ExplainSettings({})) {
    EXPECT_EQ(value.origin(), "default");
    // The two lists that are empty by default are the map of types; every other value has a text.
    EXPECT_EQ(value.value().empty(), value.path() == "static_files.mime_types") << value.path();
  }
  EXPECT_EQ(ExplainSettings({}).size(), 17U);
}

TEST(Settings, InnerLayersWinAndTellWhereFrom) {
  v1::Settings platform;
  platform.mutable_limits()->set_max_body(1000);
  platform.mutable_default_documents()->mutable_names()->add_values("home.html");
  v1::Settings farm;
  farm.mutable_limits()->set_max_body(2000);
  farm.mutable_static_files()->set_etag(false);
  v1::Settings site;
  site.mutable_default_documents()->mutable_names();
  site.mutable_static_files()->set_unknown_mime_type("");
  const std::vector<SettingsLayer> layers = {
      {"platform", &platform}, {"farms/main", &farm}, {"farms/main/sites/shop", &site}};
  const v1::Settings effective = EffectiveSettings(layers);
  EXPECT_EQ(effective.limits().max_body(), 2000);
  EXPECT_EQ(effective.limits().max_url(), 4096);
  EXPECT_FALSE(effective.static_files().etag());
  EXPECT_EQ(effective.default_documents().names().values_size(), 0);
  EXPECT_EQ(effective.static_files().unknown_mime_type(), "");
  std::map<std::string, std::pair<std::string, std::string>> explained;
  for (const v1::EffectiveValue& value : ExplainSettings(layers)) {
    explained[value.path()] = {value.value(), value.origin()};
  }
  EXPECT_EQ(explained["limits.max_body"],
            (std::pair<std::string, std::string>("2KB", "farms/main")));
  EXPECT_EQ(explained["limits.max_url"], (std::pair<std::string, std::string>("4KiB", "default")));
  EXPECT_EQ(explained["default_documents.names"].second, "farms/main/sites/shop");
  EXPECT_EQ(explained["static_files.unknown_mime_type"].second, "farms/main/sites/shop");
  EXPECT_EQ(explained["timeouts.idle"].first, "2min");
}

v1::Settings RandomSettings(RandomInput& random) {
  v1::Settings settings;
  if (random.Below(2) != 0) {
    settings.mutable_limits()->set_max_body(static_cast<std::int64_t>(random.Below(100)));
  }
  if (random.Below(2) != 0) {
    settings.mutable_limits()->set_max_url(static_cast<std::int64_t>(random.Below(100)));
  }
  if (random.Below(2) != 0) {
    settings.mutable_static_files()->set_etag(random.Below(2) != 0);
  }
  if (random.Below(2) != 0) {
    auto* names = settings.mutable_default_documents()->mutable_names();
    for (std::size_t n = random.Below(3); n > 0; --n) {
      names->add_values(random.Text({"a", "b"}, 3));
    }
  }
  if (random.Below(2) != 0) {
    auto& entries = *settings.mutable_static_files()->mutable_mime_types()->mutable_entries();
    for (std::size_t n = random.Below(3); n > 0; --n) {
      entries[random.Text({"a", "b"}, 2)] = random.Text({"x", "y"}, 2);
    }
  }
  return settings;
}

v1::Settings Merged(const v1::Settings& over, v1::Settings base) {
  MergeSettings(over, base);
  return base;
}

// Comparing maps by their bytes would depend on hash order.
std::string Explained(const v1::Settings& settings) {
  std::string text = settings.ShortDebugString();
  const SettingsLayer layer{"layer", &settings};
  for (const auto& value : ExplainSettings(std::span(&layer, 1))) {
    text += value.path() + "=" + value.value() + "@" + value.origin() + "\n";
  }
  return text.substr(text.find('\n') == std::string::npos ? 0 : settings.ShortDebugString().size());
}

TEST(SettingsProperty, MergeIsAssociativeAndIdempotent) {
  RandomInput random(6);
  for (int i = 0; i < 500; ++i) {
    const v1::Settings a = RandomSettings(random);
    const v1::Settings b = RandomSettings(random);
    const v1::Settings c = RandomSettings(random);
    ASSERT_EQ(Explained(Merged(c, Merged(b, a))), Explained(Merged(Merged(c, b), a)));
    ASSERT_EQ(Explained(Merged(a, a)), Explained(a));
    ASSERT_EQ(Explained(Merged(a, v1::Settings())), Explained(a));
  }
}

}  // namespace
}  // namespace croft::contract
