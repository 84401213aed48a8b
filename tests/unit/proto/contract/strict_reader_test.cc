#include "proto/contract/strict_reader.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "croft/v1/node.pb.h"
#include "proto/contract/validation.h"
#include "tests/unit/proto/contract/random_input.h"
#include "tests/unit/proto/contract/sample_site.h"

namespace croft::contract {
namespace {

using google::protobuf::util::MessageDifferencer;
using ::testing::HasSubstr;

std::string Problems(const ReadResult& result) {
  std::string text;
  for (const auto& violation : result.violations) {
    text += violation.field() + ": " + violation.description() + "\n";
  }
  return text;
}

TEST(StrictReader, ReadsYaml) {
  v1::Site site;
  const ReadResult result = ReadStrict(R"(
# a comment
name: farms/main/sites/shop
state: stopped
bindings:
  - "*:80:shop.example"
  - host: www.shop.example
    port: 8080
applications:
  - path: /
    pool: farms/main/pools/default
    root: s1:sites/shop
settings:
  limits: {max_body: 30MB, max_query: 2KiB}
  timeouts:
    idle: 20min
  default_documents:
    names: [index.html, home.html]
  static_files:
    etag: no
    mime_types: {html: text/html, "": text/plain}
)",
                                       site);
  ASSERT_EQ(Problems(result), "");
  EXPECT_EQ(site.state(), v1::STOPPED);
  EXPECT_EQ(site.bindings(0).host(), "shop.example");
  EXPECT_EQ(site.bindings(1).port(), 8080U);
  EXPECT_EQ(site.applications(0).root().store(), "s1");
  EXPECT_EQ(site.applications(0).root().path(), "sites/shop");
  EXPECT_EQ(site.settings().limits().max_body(), 30'000'000);
  EXPECT_EQ(site.settings().timeouts().idle(), 1'200'000);
  EXPECT_EQ(site.settings().default_documents().names().values_size(), 2);
  EXPECT_FALSE(site.settings().static_files().etag());
  EXPECT_EQ(site.settings().static_files().mime_types().entries().size(), 2U);
}

TEST(StrictReader, ReadsJson) {
  v1::Site site;
  const ReadResult result = ReadStrict(
      "{\n\t\"name\": \"farms/main/sites/shop\",\n\t\"bindings\": [{\"host\": \"a\\u002eexample\", "
      "\"port\": 80}],\n\t\"settings\": {\"limits\": {\"max_body\": \"9007199254740993\"}}\n}\n",
      site);
  ASSERT_EQ(Problems(result), "");
  EXPECT_EQ(site.bindings(0).host(), "a.example");
  EXPECT_EQ(site.settings().limits().max_body(), 9007199254740993);
}

TEST(StrictReader, ReportsEveryErrorWithItsLine) {
  v1::Site site = SampleSite();
  const ReadResult result = ReadStrict(R"(name: farms/main/sites/shop
max_body: 1
settings:
  limits:
    max_bdy: 30MB
    max_url: long
    max_url: 16
  timeouts:
bindings: "*:80:a.example"
applications:
  - path: [x]
    colour: red
state: paused
)",
                                       site);
  EXPECT_EQ(Problems(result),
            "max_body: line 2: unknown field of Site; the nearest is \"settings.limits.max_body\"\n"
            "settings.limits.max_bdy: line 5: unknown field of LimitSettings; the nearest is "
            "\"settings.limits.max_body\"\n"
            "settings.limits.max_url: line 6: \"long\" is not a size such as 30MB, 512MiB or 4096\n"
            "settings.limits.max_url: line 7: stands twice; remove one\n"
            "settings.timeouts: line 8: has no value; leave it out, or give {} for an empty one\n"
            "bindings: line 9: has to be a list\n"
            "applications[0].path: line 11: has to be a single value\n"
            "applications[0].colour: line 12: unknown field of Application\n"
            "state: line 13: \"paused\" is not one of STARTED, STOPPED\n");
  EXPECT_TRUE(MessageDifferencer::Equals(site, SampleSite()));
}

TEST(StrictReader, StopsCountingWhereNobodyReadsOn) {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text += "x" + std::to_string(i) + ": 1\n";
  }
  v1::Site site;
  const ReadResult result = ReadStrict(text, site);
  EXPECT_EQ(result.violations.size(), 1001U);
  EXPECT_THAT(result.violations.back().description(), HasSubstr("more errors follow"));
}

TEST(StrictReader, RefusesWhatIsNoPlainDocument) {
  std::string deep;
  for (int i = 0; i < 100; ++i) {
    deep += "{a: ";
  }
  std::string many = "bindings:\n";
  for (int i = 0; i < 200'001; ++i) {
    many += "- a\n";
  }
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "empty"},
      {"# nothing", "empty"},
      {"name", "map of fields"},
      {"- name", "map of fields"},
      {"name: a\n---\nname: b\n", "line 2: a second document"},
      {"name: &x a\norganization: *x\n", "anchors"},
      {"name: !!str a", "tags"},
      {"name: [a", "line 1"},
      {"name: a\n b: c", "line 2"},
      {"{name: a, name: b}", "twice"},
      {"? [a]\n: b", "a key has to be"},
      {"name: \xff", "UTF-8"},
      {"name:", "no value"},
      {"name: ~", "no value"},
      {deep + "b" + std::string(100, '}'), "deeper than 32"},
      {many, "more than 200000 values"},
      {std::string(8 * 1024 * 1024 + 1, ' '), "at most"},
  };
  for (const auto& [text, reason] : cases) {
    v1::Site site;
    EXPECT_THAT(Problems(ReadStrict(text, site)), HasSubstr(reason)) << text.substr(0, 50);
  }
}

v1::Site RandomSite(RandomInput& random) {
  const std::vector<std::string> words = {
      "a",      "true", "null", "~",      "1",      "1.5", "-",   ": ",   "#",    "\n", "\t",
      "\"",     "\\",   "ü",    "'",      "{",      "]",   "yes", "\x01", "\x7f", " ",  "&x",
      "\u2028", "*",    "0x10", "\u0085", "\ufeff", "%",   "@",   "😀",    "|",    "\r"};
  const auto text = [&] { return random.Text(words, 4); };
  v1::Site site;
  site.set_name(text());
  site.set_uid(static_cast<std::int64_t>(random.Below(1'000'000)) << 42);
  site.set_organization(text());
  if (random.Below(2) != 0) {
    site.mutable_create_time()->set_seconds(1'700'000'000);
    site.set_state(v1::STARTED);
  }
  for (std::size_t n = random.Below(3); n > 0; --n) {
    v1::Binding& binding = *site.add_bindings();
    binding.set_host(text());
    binding.set_port(static_cast<std::uint32_t>(random.Below(3) * 40));
    v1::Application& application = *site.add_applications();
    application.set_path(text());
    application.mutable_root()->set_path(text());
    application.add_virtual_directories()->set_path(text());
  }
  if (random.Below(2) != 0) {
    site.mutable_personal_pages();
  } else {
    site.mutable_personal_pages()->add_forms(v1::HOST);
  }
  auto& settings = *site.mutable_settings();
  settings.mutable_limits()->set_max_body(static_cast<std::int64_t>(random.Below(1 << 30)));
  settings.mutable_timeouts()->set_idle(static_cast<std::int64_t>(random.Below(1 << 20)));
  settings.mutable_log()->set_enabled(random.Below(2) != 0);
  auto& names = *settings.mutable_default_documents()->mutable_names();
  for (std::size_t n = random.Below(3); n > 0; --n) {
    names.add_values(text());
  }
  auto& types = *settings.mutable_static_files()->mutable_mime_types()->mutable_entries();
  for (std::size_t n = random.Below(3); n > 0; --n) {
    types[text()] = text();
  }
  return site;
}

TEST(StrictReaderProperty, TakesBackWhatIsWritten) {
  RandomInput random(7);
  for (int i = 0; i < 2000; ++i) {
    const v1::Site site = RandomSite(random);
    for (const std::string& text : {WriteYaml(site, true), WriteJson(site, true)}) {
      v1::Site read;
      const ReadResult result = ReadStrict(text, read);
      ASSERT_EQ(Problems(result), "") << text;
      ASSERT_TRUE(MessageDifferencer::Equals(site, read)) << text;
    }
  }
}

TEST(Writer, WritesForPeopleAndForPrograms) {
  v1::Site site = SampleSite();
  site.mutable_settings()->mutable_limits()->set_max_body(30'000'000);
  site.mutable_settings()->mutable_default_documents()->mutable_names()->add_values("index.html");
  EXPECT_EQ(WriteYaml(site, false), R"(name: farms/main/sites/shop
organization: organizations/root
bindings:
  - protocol: HTTP
    ip: "*"
    port: 80
    host: shop.example
applications:
  - path: /
    pool: farms/main/pools/default
    root:
      store: farms/main/stores/s1
      path: sites/shop
settings:
  default_documents:
    names:
      - index.html
  limits:
    max_body: 30MB
)");
  v1::Node node;
  node.set_name("farms/main/nodes/web");
  node.set_uid(1);
  EXPECT_EQ(WriteJson(node, false), "{\n  \"name\": \"farms/main/nodes/web\"\n}\n");
  EXPECT_EQ(WriteJson(node, true), "{\n  \"name\": \"farms/main/nodes/web\",\n  \"uid\": 1\n}\n");
  EXPECT_EQ(WriteJson(v1::Node(), true), "{}\n");
  EXPECT_EQ(WriteYaml(v1::Node(), true), "{}\n");
}

TEST(StrictReader, LabelsAreAPlainMapBothWays) {
  v1::Node node;
  const std::string text = "name: farms/main/nodes/web\nlabels:\n  app: \"7\"\n  tier: front\n";
  EXPECT_TRUE(ReadStrict(text, node).violations.empty());
  EXPECT_EQ(node.labels().at("app"), "7");
  EXPECT_EQ(WriteYaml(node, false), text);
  for (const char* bad : {"labels: x", "labels: {a: {b: c}}", "labels: {a: 1, a: 2}"}) {
    EXPECT_FALSE(ReadStrict(bad, node).violations.empty()) << bad;
  }
}

}  // namespace
}  // namespace croft::contract
