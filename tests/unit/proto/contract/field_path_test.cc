#include "proto/contract/field_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "croft/v1/farm.pb.h"
#include "croft/v1/node.pb.h"
#include "croft/v1/pool.pb.h"
#include "croft/v1/store.pb.h"
#include "proto/contract/errors.h"
#include "tests/unit/proto/contract/sample_site.h"

namespace croft::contract {
namespace {

using ::testing::HasSubstr;

TEST(FieldPath, SetsEveryKindOfField) {
  // path, value given, value read back
  const std::vector<std::array<std::string, 3>> cases = {
      {"settings.limits.max_body", "512MiB", "512MiB"},
      {"settings.limits.max_body", "30000000", "30MB"},
      {"settings.timeouts.idle", "1h30m", "90min"},
      {"settings.log.enabled", "off", "false"},
      {"settings.static_files.etag", "TRUE", "true"},
      {"settings.static_files.unknown_mime_type", "text/plain", "text/plain"},
      {"settings.default_documents.names", "a.html, b.html", "a.html,b.html"},
      {"settings.default_documents.names", "", ""},
      {"settings.static_files.mime_types", "b=x/y,a=text/html", "a=text/html,b=x/y"},
      {"state", "stopped", "STOPPED"},
      {"bindings", "*:80:a.example,b.example:81", "*:80:a.example,*:81:b.example"},
      {"bindings[0]", "c.example", "*:80:c.example"},
      {"bindings[1]", "c.example", "*:80:c.example"},
      {"bindings[0].port", "8080", "8080"},
      {"applications[0].pool", "farms/main/pools/php", "farms/main/pools/php"},
      {"applications[1].path", "/docs", "/docs"},
      {"applications[0].root", "farms/main/stores/s2:a/b", "farms/main/stores/s2:a/b"},
      {"applications[0].root", "farms/main/stores/s2/a/b", "farms/main/stores/s2:a/b"},
      {"applications[0].root", "farms/main/stores/s2", "farms/main/stores/s2"},
      {"applications[0].root", "s2/a/b", "s2:a/b"},
      {"applications[0].root", "s2:a/b", "s2:a/b"},
      {"applications[0].root.path", "x", "x"},
      {"personal_pages.forms", "path,TILDE", "PATH,TILDE"},
      {"paths[0].settings.limits.max_url", "1KiB", "1KiB"},
  };
  for (const auto& [path, given, read] : cases) {
    v1::Site site = SampleSite();
    const absl::Status status = SetField(site, path, given);
    ASSERT_TRUE(status.ok()) << path << ": " << status;
    EXPECT_EQ(*GetField(site, path), read) << path << "=" << given;
  }
  v1::FileStore store;
  ASSERT_TRUE(SetField(store, "homes.fan_out", "75,50").ok());
  EXPECT_EQ(*GetField(store, "homes.fan_out"), "75,50");
  ASSERT_TRUE(SetField(store, "homes.fan_out[1]", "60").ok());
  EXPECT_EQ(*GetField(store, "homes.fan_out"), "75,60");
}

TEST(FieldPath, EntriesOfAMapAreAddressedByKey) {
  v1::Site site;
  ASSERT_TRUE(SetField(site, "labels.customer", "acme, inc.").ok());
  ASSERT_TRUE(SetField(site, "labels.app.example/tier", "web").ok());
  EXPECT_EQ(*GetField(site, "labels.customer"), "acme, inc.");
  EXPECT_EQ(*GetField(site, "labels.none"), "");
  EXPECT_EQ(site.labels().at("app.example/tier"), "web");
  ASSERT_TRUE(ClearField(site, "labels.customer").ok());
  EXPECT_EQ(*GetField(site, "labels"), "app.example/tier=web");
  ASSERT_TRUE(SetField(site, "labels", "b=2,a=1").ok());
  EXPECT_EQ(*GetField(site, "labels"), "a=1,b=2");
  ASSERT_TRUE(ClearField(site, "labels").ok());
  EXPECT_EQ(site.labels_size(), 0);
  EXPECT_FALSE(SetField(site, "labels.", "x").ok());
  EXPECT_FALSE(SetField(site, "labels", "x").ok());
  EXPECT_FALSE(SetField(site, "state.x", "x").ok());
}

TEST(FieldMask, NamesSingleLabels) {
  v1::Site from;
  (*from.mutable_labels())["a"] = "1";
  v1::Site to;
  (*to.mutable_labels())["b"] = "2";
  (*to.mutable_labels())["c.d"] = "3";
  google::protobuf::FieldMask mask;
  mask.add_paths("labels.a");
  mask.add_paths("labels.c.d");
  ASSERT_TRUE(ApplyMask(mask, from, to).ok());
  EXPECT_EQ(*GetField(to, "labels"), "a=1,b=2");
  mask.Clear();
  mask.add_paths("labels");
  ASSERT_TRUE(ApplyMask(mask, from, to).ok());
  EXPECT_EQ(*GetField(to, "labels"), "a=1");
}

TEST(ReadMask, LeavesWhatItNamesAndTheKey) {
  v1::Site site = SampleSite();
  site.set_etag("e");
  site.set_uid(7);
  (*site.mutable_labels())["a"] = "1";
  (*site.mutable_labels())["b"] = "2";
  google::protobuf::FieldMask mask;
  mask.add_paths("bindings");
  mask.add_paths("labels.a");
  mask.add_paths("settings.limits");
  ASSERT_TRUE(CheckReadMask(mask, site).ok());
  v1::Site masked = site;
  ApplyReadMask(mask, masked);
  EXPECT_EQ(masked.name(), site.name());
  EXPECT_EQ(masked.uid(), 7);
  EXPECT_EQ(masked.etag(), "e");
  EXPECT_EQ(masked.bindings_size(), site.bindings_size());
  EXPECT_EQ(*GetField(masked, "labels"), "a=1");
  EXPECT_EQ(masked.applications_size(), 0);
  for (const char* bad : {"bindigs", "bindings.host", "labels2", "settings.nothing", ""}) {
    google::protobuf::FieldMask wrong;
    wrong.add_paths(bad);
    const absl::Status status = CheckReadMask(wrong, site);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << bad;
    EXPECT_EQ(FindDetail(status)->violations(0).field(), "read_mask");
  }
  mask.Clear();
  mask.add_paths("creat_time");
  EXPECT_THAT(std::string(CheckReadMask(mask, site).message()), HasSubstr("\"create_time\""));
  mask.Clear();
  mask.add_paths("bindigs");
  EXPECT_THAT(std::string(CheckReadMask(mask, site).message()), HasSubstr("\"bindings\""));
}

TEST(FieldPath, ARefusedValueNamesPathAndWayOutAndChangesNothing) {
  const std::vector<std::array<std::string, 3>> cases = {
      {"max_body", "1", "nearest is \"settings.limits.max_body\""},
      {"settings.limits.max_bdy", "1", "nearest is \"settings.limits.max_body\""},
      {"setings.limits.max_body", "1", "nearest is \"settings.limits.max_body\""},
      {"stat", "1", "nearest is \"state\""},
      {"zzzzzz", "1", "unknown field of Site"},
      {"", "1", "no field path"},
      {"state", "paused", "one of STARTED, STOPPED"},
      {"settings.limits.max_body", "lots", "a size such as"},
      {"settings.limits.max_body", "1.0001KB", "a size such as"},
      {"settings.timeouts.idle", "5 parsecs", "a duration such as"},
      {"settings.timeouts.idle", "1h30", "a duration such as"},
      {"settings.log.enabled", "perhaps", "true or false"},
      {"bindings", "a.example,b b", "has a space"},
      {"bindings[9]", "a.example", "the next is bindings[1]"},
      {"bindings[x]", "a.example", "index in brackets"},
      {"bindings[0", "a.example", "index in brackets"},
      {"bindings.host", "a.example", "is a list"},
      {"state[0]", "STARTED", "no list"},
      {"applications", "x", "applications[0].path"},
      {"personal_pages", "x", "set its fields"},
      {"uid", "1", "set by Croft"},
      {"state.x", "1", "unknown field"},
      {"settings.static_files.mime_types", "html", "KEY=VALUE"},
      {"bindings[0].port", "99999999999", "number up to"},
      {"bindings[0].port", "-1", "at least 0"},
      {"name", "\xff", "UTF-8"},
  };
  for (const auto& [path, value, reason] : cases) {
    v1::Site site = SampleSite();
    const absl::Status status = SetField(site, path, value);
    ASSERT_FALSE(status.ok()) << path;
    EXPECT_THAT(std::string(MessageOf(status)), HasSubstr(reason)) << path;
    EXPECT_EQ(site.SerializeAsString(), SampleSite().SerializeAsString()) << path;
  }
}

TEST(FieldPath, ClearsFieldsAndItems) {
  v1::Site site = SampleSite();
  AddBinding(site, "b.example");
  ASSERT_TRUE(ClearField(site, "bindings[0]").ok());
  EXPECT_EQ(*GetField(site, "bindings"), "*:80:b.example");
  ASSERT_TRUE(ClearField(site, "bindings").ok());
  EXPECT_EQ(*GetField(site, "bindings"), "");
  ASSERT_TRUE(ClearField(site, "settings.limits.max_body").ok());
  EXPECT_FALSE(site.has_settings());
  ASSERT_TRUE(ClearField(site, "applications[0].root").ok());
  EXPECT_FALSE(site.applications(0).has_root());
  EXPECT_FALSE(ClearField(site, "uid").ok());
  EXPECT_FALSE(ClearField(site, "nothing").ok());
  EXPECT_EQ(*GetField(v1::Node(), "draining"), "false");
  EXPECT_FALSE(GetField(site, "settings").ok());
}

google::protobuf::FieldMask Mask(const std::vector<std::string>& paths) {
  google::protobuf::FieldMask mask;
  mask.mutable_paths()->Assign(paths.begin(), paths.end());
  return mask;
}

TEST(ApplyMask, CopiesWhatIsNamed) {
  v1::Site from;
  from.set_state(v1::STOPPED);
  from.mutable_settings()->mutable_limits()->set_max_body(5);
  AddBinding(from, "new.example");
  v1::Site to = SampleSite();
  to.mutable_settings()->mutable_limits()->set_max_url(100);
  to.mutable_settings()->mutable_log()->set_enabled(false);
  ASSERT_TRUE(ApplyMask(Mask({"state", "bindings", "settings.limits"}), from, to).ok());
  EXPECT_EQ(to.state(), v1::STOPPED);
  EXPECT_EQ(*GetField(to, "bindings"), "*:80:new.example");
  EXPECT_EQ(to.settings().limits().max_body(), 5);
  EXPECT_FALSE(to.settings().limits().has_max_url());
  EXPECT_TRUE(to.settings().has_log());
  EXPECT_EQ(to.applications_size(), 1);
  ASSERT_TRUE(ApplyMask(Mask({"settings.limits.max_body"}), v1::Site(), to).ok());
  EXPECT_FALSE(to.settings().limits().has_max_body());
}

TEST(ApplyMask, AStarTakesAllButWhatCroftSets) {
  v1::Site to = SampleSite();
  v1::Site from;
  from.set_name(to.name());
  from.set_uid(99);
  ASSERT_TRUE(ApplyMask(Mask({"*"}), from, to).ok());
  EXPECT_EQ(to.uid(), 7);
  EXPECT_EQ(to.bindings_size(), 0);
  EXPECT_EQ(to.applications_size(), 0);
}

TEST(ApplyMask, RefusesUnknownAndOutputOnlyPaths) {
  v1::Site to = SampleSite();
  EXPECT_THAT(std::string(MessageOf(ApplyMask(Mask({"max_body"}), to, to))),
              HasSubstr("settings.limits.max_body"));
  EXPECT_FALSE(ApplyMask(Mask({"uid"}), to, to).ok());
  EXPECT_FALSE(ApplyMask(Mask({"bindings.host"}), to, to).ok());
  EXPECT_FALSE(ApplyMask(Mask({""}), to, to).ok());
}

TEST(Quantity, ReadsWhatItWrites) {
  for (const v1::Unit unit : {v1::BYTES, v1::MILLISECONDS, v1::COUNT}) {
    std::int64_t value = 1;
    for (int i = 0; i < 45; ++i, value = value * 2 + i % 5) {
      for (const std::int64_t n : {value, value * 1000, std::int64_t{0}}) {
        if (n >= 0) {
          ASSERT_EQ(*ParseQuantity(FormatQuantity(n, unit), unit), n) << FormatQuantity(n, unit);
        }
      }
    }
  }
  EXPECT_EQ(*ParseQuantity("1.5GiB", v1::BYTES), 1'610'612'736);
  EXPECT_EQ(*ParseQuantity("30 mb", v1::BYTES), 30'000'000);
  EXPECT_EQ(*ParseQuantity("250ms", v1::MILLISECONDS), 250);
  EXPECT_EQ(*ParseQuantity("1m", v1::MILLISECONDS), 60'000);
  EXPECT_EQ(*ParseQuantity("-5", v1::COUNT), -5);
  for (const std::string text : {"", "MB", "1 2", "9999999999TiB", "99999999999999999999", "1..5",
                                 "-1", "1MB1KB", "0x10", "1e3"}) {
    EXPECT_FALSE(ParseQuantity(text, v1::BYTES).ok()) << text;
  }
}

}  // namespace
}  // namespace croft::contract
