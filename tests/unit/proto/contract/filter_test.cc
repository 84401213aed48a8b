#include "proto/contract/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "croft/v1/account.pb.h"
#include "croft/v1/operator.pb.h"
#include "croft/v1/pool.pb.h"
#include "proto/contract/errors.h"
#include "tests/unit/proto/contract/sample_site.h"

namespace croft::contract {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool IsWithinAcme(std::string_view organization, std::string_view above) {
  return organization == above ||
         (above == "organizations/acme" && organization == "organizations/acme-east");
}

v1::Site TheSite() {
  v1::Site site;
  site.set_name("farms/main/sites/shop");
  site.set_uid(42);
  site.set_organization("organizations/acme-east");
  site.mutable_create_time()->set_seconds(1'767'225'600);  // 2026-01-01
  site.set_state(v1::STOPPED);
  (*site.mutable_labels())["customer"] = "Acme";
  (*site.mutable_labels())["app.example/tier"] = "web";
  site.add_bindings()->set_host("shop.example");
  site.add_bindings()->set_host("www.shop.example");
  site.add_applications()->set_pool("farms/main/pools/web");
  site.mutable_applications(0)->mutable_root()->set_store("farms/main/stores/files");
  return site;
}

// Text of a filter, and whether it selects TheSite().
using Case = std::pair<std::string, bool>;

void ExpectSelected(const std::vector<Case>& cases) {
  for (const auto& [text, selected] : cases) {
    const auto filter = Filter::Parse(text, ResourceType::kSite);
    ASSERT_TRUE(filter.ok()) << text << ": " << filter.status();
    EXPECT_EQ(filter->Matches(TheSite(), IsWithinAcme), selected) << text;
  }
}

TEST(Filter, SelectsByEveryOperatorAndField) {
  ExpectSelected({
      {"", true},
      {"   ", true},
      {"name = shop", true},
      {"name = \"farms/main/sites/shop\"", true},
      {"name=SHOP", true},
      {"name = 'sh*'", true},
      {"name = farms/main/*", true},
      {"name = *hop", true},
      {"name = *ho*", true},
      {"name = *", true},
      {"name = *i*", false},
      {"name = */s*", true},
      {"name >= shop AND name < shoq", true},
      {"name != shop", false},
      {"name = sho", false},
      {"name = \"sh\\*\"", false},
      {"name > farms/main/sites/a AND name < farms/main/sites/z", true},
      {"uid = 42", true},
      {"uid > 42", false},
      {"uid >= 42 uid <= 42", true},
      {"organization = organizations/acme-east", true},
      {"organization = acme-east", true},
      {"organization : acme", true},
      {"organization = acme", false},
      {"organization:organizations/other", false},
      {"state = STOPPED", true},
      {"state = stopped", true},
      {"state != STOPPED", false},
      {"NOT state = STARTED", true},
      {"-state = STARTED", true},
      {"create_time >= 2026-01-01", true},
      {"create_time > \"2026-01-01T00:00:00Z\"", false},
      {"create_time < 2026-01-01T00:00:00.5Z", true},
      {"update_time < 2027-01-01", false},
      {"update_time != 2027-01-01", true},
      {"labels.customer = Acme", true},
      {"labels.customer = acme", false},
      {"labels.customer = Ac*", true},
      {"labels.customer:*", true},
      {"labels:customer", true},
      {"labels:none", false},
      {"labels.none = x", false},
      {"labels.none != x", true},
      {"labels.app.example/tier = web", true},
      {"labels.customer >= A AND labels.customer < B", true},
      {"bindings.host = shop.example", true},
      {"bindings.host = WWW.shop.example", true},
      {"bindings.host = *.shop.example", true},
      {"bindings.host = other.example", false},
      {"bindings.host != other.example", true},
      {"bindings.host != shop.example", false},
      {"applications.pool = farms/main/pools/web", true},
      {"applications.pool = */web", true},
      {"applications.root.store = farms/main/stores/files", true},
      {"applications.virtual_directories.root.store:*", false},
  });
}

TEST(Filter, CombinesWithOrBindingTighterThanAnd) {
  ExpectSelected({
      {"state = STARTED OR uid = 42", true},
      {"uid = 1 AND uid = 42 OR uid = 42", false},
      {"(uid = 1 AND uid = 42) OR uid = 42", true},
      {"uid = 42 (state = STARTED OR state = STOPPED)", true},
      {"NOT (uid = 42 AND state = STARTED)", true},
      {"NOT uid=42 OR uid=42", true},
  });
}

TEST(Filter, RefusesWhatItCannotMeanAndSaysWhatItCan) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"shop", "expected =, !=, <, <=, >, >= or : after shop"},
      {"name =", "expected a value"},
      {"name = \"shop", "the closing \""},
      {"name = a AND", "expected a field"},
      {"name = a )", "expected AND, OR or the end"},
      {"(name = a", "expected \")\""},
      {"= a", "expected a field"},
      {"name = a*b", "beginning or the end"},
      {"name = a*b*", "beginning or the end"},
      {"name > a*", "goes with"},
      {"settings.log.enabled = true", "those that an index answers are name, uid"},
      {"display_name = x", "can't name it"},
      {"sate = STOPPED", "the nearest is \"state\""},
      {"binding.host = x", "the nearest is \"bindings.host\""},
      {"etag = x", "can't name it"},
      {"state = RUNNING", "is none of STARTED, STOPPED"},
      {"state > STOPPED", "takes = and !="},
      {"state = S*", "takes = and !="},
      {"uid = x", "no whole number"},
      {"uid = 99999999999999999999", "no whole number"},
      {"create_time > yesterday", "a time such as"},
      {"create_time : \"2026-01-01\"", "a time such as"},
      {"labels = x", "name one"},
      {"labels.A = x", "label key"},
      {"labels. = x", "label key"},
      {"organization : ac*", "takes one name"},
      {"bindings.host = \"a b\"", "a b"},
      {"bindings = x", "can't name it"},
      {"name = \xff", "not UTF-8"},
      {std::string(5000, 'a'), "longer than 4096 bytes"},
      {std::string(100, '(') + "uid = 1", "nested more than"},
      {std::string(100, '-') + "uid = 1", "nested more than"},
  };
  for (const auto& [text, why] : cases) {
    const auto filter = Filter::Parse(text, ResourceType::kSite);
    ASSERT_TRUE(absl::IsInvalidArgument(filter.status())) << text;
    EXPECT_THAT(std::string(filter.status().message()), HasSubstr(why)) << text;
    EXPECT_EQ(FindDetail(filter.status())->violations(0).field(), "filter");
  }
  std::string many = "uid = 1";
  for (int i = 0; i < 100; ++i) {
    many += " uid = 1";
  }
  EXPECT_THAT(std::string(Filter::Parse(many, ResourceType::kSite).status().message()),
              HasSubstr("more than 100"));
}

TEST(Filter, KnowsTheFieldsOfEachType) {
  EXPECT_THAT(FilterablePaths(ResourceType::kAccount),
              ElementsAre("name", "uid", "organization", "create_time", "update_time", "labels.KEY",
                          "state", "home.store"));
  for (const ResourceTypeFacts& facts : AllResourceTypes()) {
    EXPECT_TRUE(Filter::Parse("labels.a = b", facts.type).ok()) << facts.noun;
  }
}

TEST(Filter, ConjunctsAreWhatEverySelectedResourceSatisfies) {
  const auto filter = Filter::Parse(
      "state = STOPPED AND (labels.a = b (uid = 1 OR uid = 2)) AND NOT name = x",  // 2 conjuncts
      ResourceType::kSite);
  ASSERT_TRUE(filter.ok()) << filter.status();
  std::vector<std::string> terms;
  for (const Comparison* comparison : filter->Conjuncts()) {
    terms.push_back(TermOf(*comparison));
  }
  EXPECT_THAT(terms, ElementsAre("state=2", "labels.a=b"));
  EXPECT_TRUE(filter->Subtrees().empty());
  EXPECT_THAT(Filter::Parse("uid=1 OR organization:acme", ResourceType::kSite)->Subtrees(),
              ElementsAre("organizations/acme"));
}

TEST(IndexTerms, AreLabelsAndWhatIsUnusual) {
  EXPECT_THAT(IndexTerms(TheSite()),
              testing::UnorderedElementsAre("labels.customer=Acme", "labels.app.example/tier=web",
                                            "state=2"));
  v1::Account account;
  account.set_name("farms/main/accounts/bob");
  account.set_state(v1::ACTIVE);
  account.set_organization("organizations/root");
  account.mutable_home()->set_store("farms/main/stores/s");
  EXPECT_THAT(IndexTerms(account), IsEmpty());
  v1::Token token;
  token.set_operator_("operators/alice");
  EXPECT_THAT(IndexTerms(token), ElementsAre("operator=operators/alice"));
}

// What a comparison's term says agrees with the comparison itself, on random accounts.
TEST(IndexTerms, AgreeWithMatching) {
  std::mt19937 random(7);
  const auto draw = [&](unsigned below) { return random() % below; };
  const char* const values[] = {"a", "b", "", "a=b"};
  for (int round = 0; round < 2000; ++round) {
    v1::Account account;
    account.set_state(draw(2) == 0 ? v1::ACTIVE : v1::SUSPENDED);
    for (const char* key : {"k", "k.l"}) {
      if (draw(2) == 0) {
        (*account.mutable_labels())[key] = values[draw(4)];
      }
    }
    const std::string text = draw(3) == 0 ? "state = SUSPENDED"
                             : draw(2) == 0
                                 ? std::string("labels.k = \"") + values[draw(4)] + "\""
                                 : std::string("labels.k.l = \"") + values[draw(4)] + "\"";
    const auto filter = Filter::Parse(text, ResourceType::kAccount);
    ASSERT_TRUE(filter.ok()) << text << filter.status();
    const std::string term = TermOf(*filter->Conjuncts().front());
    ASSERT_NE(term, "");
    const auto terms = IndexTerms(account);
    EXPECT_EQ(filter->Matches(account, IsWithinAcme),
              std::find(terms.begin(), terms.end(), term) != terms.end())
        << text << " " << account.ShortDebugString();
  }
}

}  // namespace
}  // namespace croft::contract
