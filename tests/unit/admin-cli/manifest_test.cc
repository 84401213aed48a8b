#include "admin-cli/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "admin-cli/manifest_text.h"
#include "admin-cli/request.h"
#include "croft/v1/site.pb.h"
#include "proto/contract/field_path.h"
#include "proto/contract/strict_reader.h"

namespace croft::admin_cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Manifest Read(const std::string& text, const std::string& file = "a.yaml") {
  Manifest manifest;
  ReadManifest(text, file, "main", manifest);
  OrderManifest(manifest);
  return manifest;
}

std::vector<std::string> Names(const Manifest& manifest) {
  std::vector<std::string> names;
  for (const ManifestItem& item : manifest.items) {
    names.push_back(TextOf(*item.resource, "name"));
  }
  return names;
}

TEST(Manifest, ReadsDocumentsWithShortNames) {
  const Manifest manifest = Read(
      "# comment only\n---\ntype: site\nname: shop\norganization: acme\n"
      "bindings: [\"*:80:shop.example\"]\napplications:\n- path: /\n  pool: php\n"
      "  root: content:shop\n---\n---\ntype: pool\nname: php\n...\n# the end\n");
  EXPECT_THAT(manifest.problems, ElementsAre());
  EXPECT_THAT(Names(manifest), ElementsAre("farms/main/pools/php", "farms/main/sites/shop"));
  EXPECT_EQ(manifest.items[1].place, "a.yaml:3");
  const auto& site = dynamic_cast<const v1::Site&>(*manifest.items[1].resource);
  EXPECT_EQ(site.organization(), "organizations/acme");
  EXPECT_EQ(site.applications(0).pool(), "farms/main/pools/php");
  EXPECT_EQ(site.applications(0).root().store(), "farms/main/stores/content");
}

TEST(Manifest, TakesWhatOutputPrints) {
  v1::Site site;
  site.set_name("farms/other/sites/shop");
  site.set_uid(std::int64_t{1} << 60);
  site.set_etag("1a");
  site.set_state(v1::STOPPED);
  (*site.mutable_labels())["tier"] = "yes";
  site.mutable_create_time()->set_seconds(1'700'000'000);
  site.mutable_settings()->mutable_limits()->set_max_body(50'000'000);
  const std::string json = contract::WriteJson(site, true);
  for (const auto& [text, file] :
       {std::pair(contract::WriteYaml(site, true), "a.yaml"),
        std::pair("---\n" + contract::WriteYaml(site, true), "-"), std::pair(json, "a.json"),
        std::pair("[\n" + json + "]\n", "-"), std::pair(json + json.substr(0, 0), "stdin")}) {
    const Manifest manifest = Read(text, file);
    ASSERT_THAT(manifest.problems, ElementsAre()) << text;
    ASSERT_EQ(manifest.items.size(), 1u) << text;
    const auto& read = dynamic_cast<const v1::Site&>(*manifest.items[0].resource);
    EXPECT_EQ(read.uid(), 0) << "what only control sets goes";
    EXPECT_FALSE(read.has_create_time());
    EXPECT_EQ(read.etag(), "1a");
    EXPECT_EQ(read.state(), v1::STOPPED);
    EXPECT_EQ(read.labels().at("tier"), "yes");
    EXPECT_EQ(read.settings().limits().max_body(), 50'000'000);
  }
}

TEST(Manifest, ReadsJsonLinesAndArrays) {
  EXPECT_THAT(Names(Read("{\"type\":\"account\",\"name\":\"b{]\\\"\"}\n", "x.jsonl")),
              ElementsAre());
  EXPECT_THAT(Names(Read("{\"type\":\"account\",\"name\":\"bob\"}\n\n"
                         "{\"type\":\"account\",\"name\":\"ann\"}\n",
                         "stdin")),
              ElementsAre("farms/main/accounts/bob", "farms/main/accounts/ann"));
  EXPECT_THAT(Names(Read(" [ {\"type\":\"account\",\"name\":\"bob\"} ,\n"
                         "{\"type\":\"account\",\"name\":\"ann\"}]\n",
                         "stdin")),
              ElementsAre("farms/main/accounts/bob", "farms/main/accounts/ann"));
  EXPECT_THAT(Names(Read("[]", "stdin")), ElementsAre());
}

TEST(Manifest, OrdersWhatOthersNameFirst) {
  EXPECT_THAT(
      Names(Read("type: account\nname: bob\n---\ntype: site\nname: a\n---\n"
                 "type: organization\nname: below\norganization: above\n---\n"
                 "type: farm\nname: main\n---\ntype: organization\nname: above\n---\n"
                 "type: platform\n---\ntype: store\nname: content\n")),
      ElementsAre("organizations/above", "organizations/below", "platform", "farms/main",
                  "farms/main/stores/content", "farms/main/sites/a", "farms/main/accounts/bob"));
}

struct Refused {
  std::string text;
  std::string file;
  std::string problem;
};

TEST(Manifest, RefusesWithFileAndLine) {
  const std::string deep =
      "{\"type\":\"site\",\"name\":\"a\",\"settings\":" + std::string(100, '[') +
      std::string(100, ']') + "}";
  const Refused cases[] = {
      {"type: site\nname: a\nbinding: x\n", "a.yaml",
       "a.yaml:3: binding: unknown field of Site; "
       "the nearest is \"bindings\""},
      {"---\n---\n\ntype: site\nname: a\nbindings:\n- prt: 1\n", "d/a.yaml", "d/a.yaml:7: "},
      {"type: site\nname: a\nname: b\n", "a.yaml", "a.yaml:3: name: stands twice"},
      {"type: site\ntype: site\nname: a\n", "a.yaml", "type: stands twice"},
      {"type: site\nname: &x a\n", "a.yaml", "a.yaml:2: anchors"},
      {"type: site\nname: a\nstate: *x\n", "a.yaml", "a.yaml:3: "},
      {"type: site\nname: a\nsettings:\n\tlimits: {}\n", "a.yaml", "a.yaml:4: a tab"},
      {"type: sight\nname: a\n", "a.yaml", "a.yaml:1: no type \"sight\""},
      {"# x\nname: shop\n", "a.yaml", "a.yaml:2: no type; say \"type: site\""},
      {"type: site\nstate: STARTED\n", "a.yaml", "a site needs a name"},
      {"type: site\nname: farms/main/pools/x\n", "a.yaml", "a.yaml:2: name: "},
      {"type: site\nname: \"a b\"\n", "a.yaml", "a.yaml:2: name: site id \"a b\""},
      {"- a\n- b\n", "a.yaml", "a.yaml:1: a document has to be a map"},
      {"just words\n", "a.yaml", "has to be a map"},
      {"type: site\nname: a\nsettings: {limits: {max_body: 5parsecs}}\n", "a.yaml",
       "settings.limits.max_body: "},
      {"{\"type\":\"site\",\"name\":\"a\"", "a.json", "a.json:1: "},
      {"[{\"type\":\"site\",\"name\":\"a\"}\n{\"type\":\"site\",\"name\":\"b\"}]", "a.json",
       "a.json:2: expected a comma"},
      {"[{\"type\":\"site\",\"name\":\"a\"}", "a.json", "not closed"},
      {"\n{\"type\":\"site\",\"name\":\"a\",\"uid\":true}", "a.json", "a.json:2: uid: "},
      {deep, "a.json", "nested"},
      {"type: site\nname: a\nsettings: " + std::string(100'000, '['), "a.yaml", "a.yaml:"},
      {"type: site\nname: a\n---\ntype: site\nname: farms/main/sites/a\n", "a.yaml",
       "a.yaml:4: farms/main/sites/a stands at a.yaml:1 too"},
      {std::string(kManifestBytesMax + 1, ' '), "a.yaml", "a.yaml:1: the file has 16777217 bytes"},
  };
  for (const Refused& refused : cases) {
    const Manifest manifest = Read(refused.text, refused.file);
    ASSERT_FALSE(manifest.problems.empty()) << refused.text.substr(0, 200);
    EXPECT_THAT(manifest.problems[0], HasSubstr(refused.problem)) << refused.text.substr(0, 200);
  }
}

TEST(Manifest, StopsAfterAHundredProblems) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) {
    text += "---\ntype: sight\nname: a\n";
  }
  EXPECT_EQ(Read(text).problems.size(), kManifestProblemsMax);
}

TEST(Manifest, KnowsJsonByItsFirstLetter) {
  EXPECT_TRUE(LooksLikeJson(" \n{\"a\":1}"));
  EXPECT_TRUE(LooksLikeJson("\xEF\xBB\xBF[1]"));
  EXPECT_FALSE(LooksLikeJson("type: site"));
  EXPECT_FALSE(LooksLikeJson(""));
}

}  // namespace
}  // namespace croft::admin_cli
