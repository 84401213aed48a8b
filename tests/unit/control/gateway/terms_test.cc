#include "control/gateway/terms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "croft/v1/site.pb.h"

namespace croft::control::gateway {
namespace {

namespace http = boost::beast::http;

class TermsTest : public testing::Test {
 protected:
  TermsTest() {
    methods_.Add({.descriptor = api::GetMethod("croft.v1.SiteService.GetSite"),
                  .access = api::Access::kOperator,
                  .handler = {}});
    streams_.Add("croft.v1.ResourceService.ImportResources", {});
    streams_.Add("croft.v1.ReportService.WatchEvents", {});
  }

  Route Find(std::string_view verb, std::string_view target) { return routes_.Find(verb, target); }
  Route Unary() { return Find("POST", "/croft.v1.SiteService/GetSite"); }
  Route Import() { return Find("POST", "/croft.v1.ResourceService/ImportResources"); }
  Route Watch() { return Find("POST", "/croft.v1.ReportService/WatchEvents"); }

  api::Methods methods_;
  api::StreamMethods streams_;
  Routes routes_{
      methods_, streams_, {{.path = "/healthz", .content_type = "text/plain", .make = {}}}};
};

TEST_F(TermsTest, PathsAreDecidedInOnePlace) {
  EXPECT_EQ(Unary().unary->descriptor->name(), "GetSite");
  EXPECT_EQ(Import().stream->descriptor->name(), "ImportResources");
  EXPECT_EQ(Find("GET", "/healthz").page->path, "/healthz");
  EXPECT_EQ(Find("GET", "/healthz?verbose").page->path, "/healthz");
  struct Case {
    const char* verb;
    const char* target;
    int status;
    const char* allow;
  };
  const Case cases[] = {
      {"GET", "/croft.v1.SiteService/GetSite", 405, "POST"},
      {"PUT", "/croft.v1.SiteService/GetSite?x=1", 405, "POST"},
      {"POST", "/healthz", 405, "GET"},
      {"GET", "/", 404, ""},
      {"POST", "/croft.v1.SiteService", 404, ""},
      {"POST", "/croft.v1.SiteService/GetSite/", 404, ""},
      {"POST", "/croft.v1.SiteService/getsite", 404, ""},
      {"POST", "/croft.v1.SiteService/DeleteSite", 501, ""},
      {"POST", "/croft.node.v1.NodeFeed/Connect", 501, ""},
  };
  for (const Case& c : cases) {
    const Route route = Find(c.verb, c.target);
    EXPECT_EQ(route.refusal_status, c.status) << c.target;
    EXPECT_EQ(route.refusal.code(), absl::StatusCode::kUnimplemented) << c.target;
    EXPECT_EQ(route.allow, c.allow) << c.target;
  }
}

TEST_F(TermsTest, ContentTypeMustFitTheMethod) {
  struct Case {
    Route route;
    const char* given;
    const char* answered;  // null: refused
  };
  const Case cases[] = {
      {Unary(), "application/json", "application/json"},
      {Unary(), "Application/JSON ; charset=utf-8", "application/json"},
      {Unary(), "application/proto", "application/proto"},
      {Unary(), "application/jsonl", nullptr},
      {Unary(), "application/x-www-form-urlencoded", nullptr},
      {Unary(), "", nullptr},
      {Import(), "application/jsonl", "application/jsonl"},
      {Import(), "application/x-ndjson", "application/x-ndjson"},
      {Import(), "application/json", nullptr},
      {Import(), "application/connect+json", nullptr},
      {Watch(), "application/json", "application/jsonl"},
      {Watch(), "application/x-ndjson", "application/x-ndjson"},
      {Watch(), "application/proto", nullptr},
  };
  for (const Case& c : cases) {
    http::fields header;
    header.set(http::field::content_type, c.given);
    Terms terms;
    const auto refusal = ReadTerms(header, c.route, terms);
    EXPECT_EQ(refusal.has_value(), c.answered == nullptr) << c.given;
    if (refusal.has_value()) {
      EXPECT_EQ(refusal->status, 415);
      EXPECT_EQ(refusal->headers.at(0).first, "Accept-Post");
    } else {
      EXPECT_EQ(terms.content_type, c.answered);
    }
  }
}

TEST_F(TermsTest, HeadersOfConnectAreObeyedOrRefused) {
  struct Case {
    const char* name;
    const char* value;
    int status;  // 0: taken
  };
  const Case cases[] = {
      {"connect-protocol-version", "1", 0}, {"connect-protocol-version", "2", 400},
      {"content-encoding", "identity", 0},  {"content-encoding", "gzip", 501},
      {"connect-timeout-ms", "1500", 0},    {"connect-timeout-ms", "12345678901", 400},
      {"connect-timeout-ms", "-1", 400},    {"connect-timeout-ms", "1s", 400},
  };
  for (const Case& c : cases) {
    http::fields header;
    header.set(http::field::content_type, "application/json");
    header.set(c.name, c.value);
    Terms terms;
    const auto refusal = ReadTerms(header, Unary(), terms);
    EXPECT_EQ(refusal.has_value() ? refusal->status : 0, c.status) << c.name << " " << c.value;
  }
}

TEST_F(TermsTest, BodiesAreReadStrictlyInEitherForm) {
  v1::GetSiteRequest request;
  request.set_name("farms/main/sites/shop");
  for (const Codec codec : {Codec::kJson, Codec::kProto}) {
    v1::GetSiteRequest read;
    ASSERT_TRUE(Decode(Encode(request, codec), codec, read).ok());
    EXPECT_EQ(read.name(), request.name());
  }
  v1::GetSiteRequest read;
  const auto violations = Decode(R"({"nam": 1, "x": 2})", Codec::kJson, read);
  EXPECT_EQ(violations.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(violations.message(), testing::HasSubstr("; x: "));
  request.GetReflection()->MutableUnknownFields(&request)->AddVarint(900, 1);
  EXPECT_EQ(Decode(Encode(request, Codec::kProto), Codec::kProto, read).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Decode("\xff\xff", Codec::kProto, read).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace croft::control::gateway
