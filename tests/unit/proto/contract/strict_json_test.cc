#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "croft/v1/operator.pb.h"
#include "croft/v1/resource.pb.h"
#include "croft/v1/site.pb.h"
#include "proto/contract/document.h"
#include "proto/contract/strict_reader.h"
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

TEST(StrictJson, TakesBothSpellingsOfNamesAndEveryKindOfValue) {
  v1::UpdateSiteRequest request;
  ASSERT_EQ(Problems(ReadStrictJson(R"({
	"site": {
	  "name": "farms\/main\/sites\/caf\u00e9 \ud83d\ude00",
	  "createTime": "2026-01-31T12:00:00Z",
	  "uid": "9007199254740993", "revision": 12,
	  "state": "STOPPED", "labels": {"tier": "web"},
	  "bindings": [{"port": 8080, "protocol": 1, "host": null}],
	  "personal_pages": {"forms": ["TILDE"], "hostSuffix": "pages.example"},
	  "settings": {"staticFiles": {"etag": false, "cacheMaxAge": "5000"},
	               "defaultDocuments": {"names": {"values": ["a.html"]}}}
	},
	"updateMask": "state,personalPages.hostSuffix", "validateOnly": true
})",
                                    request)),
            "");
  const v1::Site& site = request.site();
  EXPECT_EQ(site.name(), "farms/main/sites/caf\u00e9 \U0001F600");
  EXPECT_EQ(site.create_time().seconds(), 1769860800);
  EXPECT_EQ(site.uid(), 9007199254740993);
  EXPECT_EQ(site.revision(), 12);
  EXPECT_EQ(site.state(), v1::STOPPED);
  EXPECT_EQ(site.labels().at("tier"), "web");
  EXPECT_EQ(site.bindings(0).port(), 8080U);
  EXPECT_EQ(site.bindings(0).protocol(), v1::HTTP);
  EXPECT_EQ(site.personal_pages().host_suffix(), "pages.example");
  EXPECT_TRUE(site.settings().static_files().has_etag());
  EXPECT_EQ(site.settings().static_files().cache_max_age(), 5000);
  EXPECT_EQ(site.settings().default_documents().names().values(0), "a.html");
  EXPECT_EQ(request.update_mask().paths(1), "personal_pages.host_suffix");
  EXPECT_TRUE(request.validate_only());
}

TEST(StrictJson, TakesWhatProtobufWrites) {
  v1::CreateSiteRequest request;
  request.set_parent("farms/main");
  *request.mutable_site() = SampleSite();
  (*request.mutable_site()->mutable_labels())["a"] = "<b>\"\\\x7f";
  google::protobuf::util::JsonPrintOptions options;
  for (const bool snake_case : {false, true}) {
    options.preserve_proto_field_names = snake_case;
    std::string json;
    ASSERT_TRUE(google::protobuf::util::MessageToJsonString(request, &json, options).ok());
    v1::CreateSiteRequest read;
    EXPECT_EQ(Problems(ReadStrictJson(json, read)), "");
    EXPECT_TRUE(MessageDifferencer::Equals(read, request)) << json;
  }
}

TEST(StrictJson, ReportsEveryErrorWithItsPath) {
  v1::CreateSiteRequest request;
  const std::string problems = Problems(ReadStrictJson(R"({
    "parent": 5, "validateOnly": "true", "validate_only": true, "sitee": {},
    "site": {"state": "GONE", "uid": true, "labels": {"a": 1, "b": "x", "b": "y"},
             "bindings": [{"hots": "a.example"}, 7, {"port": -1}],
             "createTime": "yesterday", "settings": []}
  })",
                                                       request));
  for (const char* expected :
       {"parent: line 2: has to be a text in quotes",
        "validate_only: line 2: has to be true or false, without quotes",
        "validate_only: line 2: stands twice",
        "sitee: line 2: unknown field of CreateSiteRequest; the nearest is \"site\"",
        "site.state: line 3: \"GONE\" is not one of STARTED, STOPPED",
        "site.uid: line 3: cannot be true or false", "site.labels[a]: line 3: has to be a text",
        "site.labels[b]: line 3: stands twice",
        "site.bindings[0].hots: line 4: unknown field of Binding; the nearest is "
        "\"site.bindings[0].host\"",
        "site.bindings[2].port: line 4: ", "site.create_time: line 5: ",
        "site.settings: line 5: has to be a map of fields"}) {
    EXPECT_THAT(problems, HasSubstr(expected));
  }
  EXPECT_EQ(request.ByteSizeLong(), 0U);
}

TEST(StrictJson, OneOfAOneofOnly) {
  v1::Resource resource;
  EXPECT_THAT(Problems(ReadStrictJson(R"({"site": {}, "pool": {}})", resource)),
              HasSubstr("pool: line 1: stands beside another"));
}

TEST(StrictJson, NoJsonIsRefusedWithLineAndColumn) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "the text is empty"},
      {"{", "line 1: column 2: expected a name in double quotes"},
      {"{\"name\": \"a\",}", "column 14: expected a name in double quotes"},
      {"{\n'name': 1}", "line 2: column 1: expected a name in double quotes"},
      {"{\"name\" \"a\"}", "expected ':'"},
      {"{\"name\": \"a\" \"uid\": 1}", "expected ',' or '}'"},
      {"{\"name\": a}", "expected a value"},
      {"{\"uid\": 01}", "expected a value"},
      {"{\"uid\": 1.}", "expected a value"},
      {"{\"uid\": +1}", "expected a value"},
      {"{\"uid\": NaN}", "expected a value"},
      {"{\"name\": \"a\tb\"}", "control character"},
      {"{\"name\": \"\\x\"}", "unknown escape"},
      {"{\"name\": \"\\ud800\"}", "half of a surrogate pair"},
      {"{\"name\": \"\\udc00\"}", "half of a surrogate pair"},
      {"{\"name\": \"\\u12g4\"}", "four hexadecimal digits"},
      {"{\"name\": \"a", "a string has no end"},
      {"{} {}", "something follows the value"},
      {"{} # comment", "something follows the value"},
      {"name: a", "expected a value"},
      {"{\"name\": \"\xff\"}", "not UTF-8"},
      {"\xEF\xBB\xBF{}", "expected a value"},
      {std::string(100, '['), "nested deeper than 32 levels"},
      {"[" + std::string(500'000, '0') + "]", "expected a value"},
  };
  for (const auto& [text, expected] : cases) {
    v1::Site site;
    EXPECT_THAT(Problems(ReadStrictJson(text, site)), HasSubstr(expected)) << text.substr(0, 80);
  }
}

TEST(StrictJson, TooManyValuesAreRefused) {
  std::string text = "{\"bindings\":[";
  for (int i = 0; i < 200'001; ++i) {
    text += "{},";
  }
  text.back() = ']';
  v1::Site site;
  EXPECT_THAT(Problems(ReadStrictJson(text + "}", site)), HasSubstr("more than 200000 values"));
}

}  // namespace
}  // namespace croft::contract
