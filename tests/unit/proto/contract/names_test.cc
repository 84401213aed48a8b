#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "croft/v1/account.pb.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/node.pb.h"
#include "croft/v1/organization.pb.h"
#include "croft/v1/pool.pb.h"
#include "croft/v1/store.pb.h"
#include "proto/contract/account_name.h"
#include "proto/contract/errors.h"
#include "proto/contract/home_layout.h"
#include "proto/contract/nearest_name.h"
#include "proto/contract/resource_name.h"
#include "proto/contract/text_rules.h"
#include "tests/unit/proto/contract/random_input.h"

namespace croft::contract {
namespace {

using ::testing::HasSubstr;

TEST(ResourceName, RoundTrips) {
  for (const std::string text :
       {"platform", "organizations/acme", "farms/main", "farms/main/nodes/web-1",
        "farms/main/stores/s1", "farms/main/pools/php", "farms/main/sites/shop.example",
        "farms/main/accounts/bob"}) {
    const auto name = ParseResourceName(text);
    ASSERT_TRUE(name.ok()) << name.status();
    EXPECT_EQ(FormatResourceName(*name), text);
    EXPECT_TRUE(ParseResourceName(text, name->type).ok());
  }
  EXPECT_EQ(ParseResourceName("farms/main/accounts/BOB")->id, "bob");
}

TEST(ResourceName, ShowsTheExpectedForm) {
  const std::vector<std::string> bad = {"",
                                        "main",
                                        "farms",
                                        "farms/",
                                        "farms/main/sites",
                                        "farms/main/sites/",
                                        "farms//sites/a",
                                        "sites/a",
                                        "farms/main/trees/a",
                                        "farms/main/sites/a/b",
                                        "farms/main/pools/A",
                                        "farms/main/pools/a.b",
                                        "farms/main/pools/-a",
                                        "platform/x",
                                        "farms/main/accounts/www"};
  for (const std::string& text : bad) {
    EXPECT_FALSE(ParseResourceName(text).ok()) << text;
  }
  EXPECT_THAT(
      std::string(MessageOf(ParseResourceName("farms/main/sites/a", ResourceType::kPool).status())),
      HasSubstr("farms/{farm}/pools/{pool}"));
  EXPECT_THAT(std::string(MessageOf(
                  ParseResourceName("farms/main/pools/A b", ResourceType::kPool).status())),
              HasSubstr("pool id \"A b\""));
}

TEST(ResourceName, EveryResourceMessageHasAType) {
  EXPECT_EQ(TypeOf(v1::Platform()), ResourceType::kPlatform);
  EXPECT_EQ(TypeOf(v1::Organization()), ResourceType::kOrganization);
  EXPECT_EQ(TypeOf(v1::Farm()), ResourceType::kFarm);
  EXPECT_EQ(TypeOf(v1::Node()), ResourceType::kNode);
  EXPECT_EQ(TypeOf(v1::FileStore()), ResourceType::kStore);
  EXPECT_EQ(TypeOf(v1::ApplicationPool()), ResourceType::kPool);
  EXPECT_EQ(TypeOf(v1::Site()), ResourceType::kSite);
  EXPECT_EQ(TypeOf(v1::Account()), ResourceType::kAccount);
  for (const auto& facts : AllResourceTypes()) {
    EXPECT_EQ(&Facts(facts.type), &facts);
  }
}

TEST(ResourceId, HasItsLimits) {
  EXPECT_TRUE(ParseResourceId(ResourceType::kSite, std::string(200, 'a')).ok());
  EXPECT_FALSE(ParseResourceId(ResourceType::kSite, std::string(201, 'a')).ok());
  EXPECT_TRUE(ParseResourceId(ResourceType::kPool, std::string(63, 'a')).ok());
  EXPECT_FALSE(ParseResourceId(ResourceType::kPool, std::string(64, 'a')).ok());
}

TEST(AccountName, IsALowerCaseDnsLabel) {
  EXPECT_EQ(*ParseAccountName("Bob"), "bob");
  EXPECT_EQ(*ParseAccountName("4711"), "4711");
  EXPECT_EQ(*ParseAccountName("mary-ann"), "mary-ann");
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"", "empty"},       {"a.b", "letters"},  {"a_b", "letters"},
      {"~bob", "letters"}, {"-a", "hyphen"},    {"a-", "hyphen"},
      {"xn--a", "xn--"},   {"WWW", "reserved"}, {"cgi-bin", "reserved"},
      {"é", "letters"},    {"a b", "letters"},  {std::string(64, 'a'), "63"}};
  for (const auto& [text, reason] : bad) {
    const auto name = ParseAccountName(text);
    ASSERT_FALSE(name.ok()) << text;
    EXPECT_THAT(std::string(MessageOf(name.status())), HasSubstr(reason)) << text;
    EXPECT_EQ(CanonicalAccountName(text), "") << text;
  }
  EXPECT_EQ(CanonicalAccountName("BOB"), "bob");
}

v1::HomeLayout Layout(const std::vector<std::uint32_t>& fan_out, std::int64_t per_leaf) {
  v1::HomeLayout layout;
  layout.mutable_fan_out()->Assign(fan_out.begin(), fan_out.end());
  layout.set_homes_per_leaf(per_leaf);
  return layout;
}

TEST(HomeLayout, FillsAllLeavesEvenlyAndUsesEachSlotOnce) {
  v1::HomeLayout layout = Layout({7, 5}, 3);
  layout.set_path("homes");
  EXPECT_EQ(LeafCount(layout), 35);
  EXPECT_EQ(HomeCapacity(layout), 105);
  std::map<std::string, int> per_leaf;
  std::set<std::string> paths;
  for (std::int64_t slot = 0; slot < 105; ++slot) {
    const std::string path = *HomePath(layout, slot, 1000 + slot);
    EXPECT_EQ(path.substr(0, 6), "homes/");
    paths.insert(path);
    ++per_leaf[path.substr(0, path.rfind('/'))];
    const auto [least, most] = std::minmax_element(
        per_leaf.begin(), per_leaf.end(), [](auto& a, auto& b) { return a.second < b.second; });
    EXPECT_LE(most->second - (per_leaf.size() == 35 ? least->second : 0), 1);
  }
  EXPECT_EQ(paths.size(), 105U);
  EXPECT_EQ(per_leaf.size(), 35U);
  EXPECT_EQ(HomePath(layout, 105, 1).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(HomePath(layout, -1, 1).ok());
}

TEST(HomeLayout, PadsDirectoriesAndCountsTheLargest) {
  EXPECT_EQ(*HomePath(Layout({75, 50}, 200), 0, 42), "00/00/42");
  EXPECT_EQ(*HomePath(Layout({75, 50}, 200), 76, 43), "01/01/43");
  EXPECT_EQ(HomeCapacity(Layout({75, 50}, 200)), 750'000);
  EXPECT_EQ(HomeCapacity(Layout({1000, 1000, 1000, 1000}, 100'000)), 100'000'000'000'000'000);
  EXPECT_EQ(HomeCapacity(Layout({}, 200)), 0);
  EXPECT_EQ(HomeCapacity(Layout({0}, 200)), 0);
  EXPECT_EQ(HomeCapacity(Layout({4'000'000'000U, 4'000'000'000U, 4'000'000'000U}, 200)), 0);
  v1::HomeLayout defaults;
  defaults.add_fan_out(10);
  EXPECT_EQ(HomeCapacity(defaults), 2000);
}

TEST(NearestName, FindsTypingErrorsOnly) {
  EXPECT_EQ(EditDistance("abc", "abc"), 0U);
  EXPECT_EQ(EditDistance("abc", "acb"), 1U);
  EXPECT_EQ(EditDistance("", "abc"), 3U);
  EXPECT_EQ(NearestName("max_bdy", {"max_url", "max_body"}), "max_body");
  EXPECT_EQ(NearestName("zebra", {"max_url", "max_body"}), "");
}

TEST(Errors, CarryTheirDetailAndFitIntoTrailers) {
  EXPECT_TRUE(InvalidFields({}).ok());
  std::vector<v1::FieldViolation> violations(500);
  for (auto& violation : violations) {
    violation.set_field("site.bindings[1].host");
    violation.set_description("is wrong");
  }
  const absl::Status status = InvalidFields(violations);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(MessageOf(status)), HasSubstr("more"));
  const auto detail = FindDetail(status);
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->reason(), "FIELD_INVALID");
  EXPECT_GT(detail->violations_size(), 20);
  EXPECT_LT(detail->ByteSizeLong() * 4 / 3 + status.message().size(), 7000U);
  EXPECT_FALSE(FindDetail(absl::OkStatus()).has_value());
}

TEST(TextRules, KnowUtf8) {
  EXPECT_TRUE(IsUtf8("aü語\xF0\x9F\x98\x80"));
  for (const std::string bad : {"\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80",
                                "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82"}) {
    EXPECT_FALSE(IsUtf8(bad));
  }
  EXPECT_EQ(Shorten("abcdef", 3), "abc...");
  EXPECT_EQ(Shorten("üü", 3), "ü...");
  EXPECT_EQ(Shorten("a\nb\xff", 10), "a?b?");
}

}  // namespace
}  // namespace croft::contract
