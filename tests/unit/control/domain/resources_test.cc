#include "control/domain/resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/control/domain/estate.h"

namespace croft::control::domain {
namespace {

using absl::StatusCode;
using contract::ResourceType;
using testing::ElementsAre;
using testing::HasSubstr;

using ResourcesTest = DomainTest;

TEST_F(ResourcesTest, CreateAnswersWithEverythingThatGetReads) {
  const v1::Site created = Create("farms/main", "shop", ASite("Shop.Example."));
  EXPECT_EQ(created.name(), "farms/main/sites/shop");
  EXPECT_EQ(created.organization(), "organizations/root");
  EXPECT_EQ(created.bindings(0).host(), "shop.example");
  EXPECT_GT(created.uid(), 0);
  EXPECT_FALSE(created.etag().empty());
  EXPECT_EQ(created.revision(), Revision());
  EXPECT_GT(created.create_time().seconds(), 0);
  const auto read = Get<v1::Site>(created.name());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->DebugString(), created.DebugString());
}

TEST_F(ResourcesTest, FirstResourcesAreMadeOnce) {
  const auto revision = Revision();
  EXPECT_TRUE(resources_.CreateFirstResources().ok());
  EXPECT_EQ(Revision(), revision);
  EXPECT_TRUE(Get<v1::Platform>("platform").ok());
  EXPECT_EQ(Get<v1::Organization>("organizations/root")->organization(), "");
}

TEST_F(ResourcesTest, RefusesBadInputWithTheField) {
  const auto bad_id = TryCreate("farms/main", "No Good", ASite("a.example"));
  EXPECT_EQ(bad_id.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(contract::FindDetail(bad_id.status())->violations(0).field(), "site_id");
  EXPECT_EQ(TryCreate("farm/main", "a", ASite("a.example")).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(TryCreate("farms/none", "a", v1::Account()).status().code(), StatusCode::kNotFound);
  const auto bad_host = TryCreate("farms/main", "a", ASite("a b"));
  EXPECT_THAT(contract::FindDetail(bad_host.status())->violations(0).field(),
              HasSubstr("site.bindings[0]"));
  EXPECT_EQ(Revision(), 5);
}

TEST_F(ResourcesTest, ANameCanBeTakenOnlyOnce) {
  Create("farms/main", "a", ASite("a.example"));
  const auto again = TryCreate("farms/main", "a", ASite("b.example"));
  EXPECT_EQ(again.status().code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(ReasonOf(again.status()), "NAME_TAKEN");
}

TEST_F(ResourcesTest, ABindingOfAnotherSiteIsRefusedNamingTheSite) {
  Create("farms/main", "a", ASite("a.example"));
  const auto second = TryCreate("farms/main", "b", ASite("A.example"));
  EXPECT_EQ(second.status().code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(ReasonOf(second.status()), "BINDING_TAKEN");
  EXPECT_EQ(contract::FindDetail(second.status())->resource(), "farms/main/sites/a");
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr("*:80:a.example already belongs to farms/main/sites/a"));
  EXPECT_FALSE(Get<v1::Site>("farms/main/sites/b").ok());
}

TEST_F(ResourcesTest, WhatASiteNamesHasToExist) {
  v1::Site site = ASite("a.example");
  site.mutable_applications(0)->set_pool("farms/main/pools/none");
  site.mutable_applications(0)->mutable_root()->set_store("farms/main/stores/none");
  const absl::Status status = TryCreate("farms/main", "a", site).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  const auto detail = contract::FindDetail(status);
  ASSERT_EQ(detail->violations_size(), 2);
  EXPECT_EQ(detail->violations(0).field(), "site.applications[0].pool");
  EXPECT_EQ(detail->violations(1).field(), "site.applications[0].root.store");
}

TEST_F(ResourcesTest, WhatIsReferredToCantBeDeleted) {
  Create("farms/main", "a", ASite("a.example"));
  Create("farms/main", "bob", v1::Account());
  Create("", "acme", v1::Organization());
  v1::Site owned = ASite("o.example");
  owned.set_organization("organizations/acme");
  Create("farms/main", "owned", owned);
  const struct {
    ResourceType type;
    const char* name;
    const char* by;
  } cases[] = {{ResourceType::kPool, "farms/main/pools/web", "farms/main/sites/a"},
               {ResourceType::kStore, "farms/main/stores/files", "farms/main/accounts/bob"},
               {ResourceType::kFarm, "farms/main", "farms/main/pools/web"},
               {ResourceType::kOrganization, "organizations/acme", "farms/main/sites/owned"}};
  for (const auto& c : cases) {
    const absl::Status status = Delete(c.type, c.name);
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << c.name;
    EXPECT_EQ(ReasonOf(status), "REFERENCED") << c.name;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.by)) << c.name;
  }
  EXPECT_EQ(ReasonOf(Delete(ResourceType::kOrganization, "organizations/root")), "PROTECTED");
  EXPECT_EQ(ReasonOf(Delete(ResourceType::kPlatform, "platform")), "PROTECTED");
  EXPECT_TRUE(Delete(ResourceType::kSite, "farms/main/sites/a").ok());
  EXPECT_TRUE(Delete(ResourceType::kSite, "farms/main/sites/owned").ok());
  EXPECT_TRUE(Delete(ResourceType::kPool, "farms/main/pools/web").ok());
  EXPECT_EQ(Delete(ResourceType::kPool, "farms/main/pools/web").code(), StatusCode::kNotFound);
}

TEST_F(ResourcesTest, UpdateChangesWhatTheMaskNames) {
  v1::Site site = Create("farms/main", "a", ASite("a.example"));
  v1::Site change;
  change.set_name(site.name());
  change.set_state(v1::STOPPED);
  change.add_bindings()->set_host("other.example");
  const auto updated = TryUpdate(change, {"state"});
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->state(), v1::STOPPED);
  EXPECT_EQ(updated->bindings(0).host(), "a.example");
  EXPECT_NE(updated->etag(), site.etag());
  EXPECT_EQ(updated->uid(), site.uid());
  EXPECT_EQ(updated->revision(), Revision());
  EXPECT_EQ(Get<v1::Site>(site.name())->DebugString(), updated->DebugString());
}

TEST_F(ResourcesTest, WithoutAMaskEverySetFieldChanges) {
  v1::Site with_settings = ASite("a.example");
  with_settings.mutable_settings()->mutable_limits()->set_max_url(100);
  const v1::Site site = Create("farms/main", "a", with_settings);
  v1::Site change;
  change.set_name(site.name());
  change.mutable_settings()->mutable_limits()->set_max_query(50);
  const auto updated = TryUpdate(change);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->settings().limits().max_query(), 50);
  EXPECT_EQ(updated->settings().limits().max_url(), 100);
  EXPECT_EQ(updated->bindings_size(), 1);
}

TEST_F(ResourcesTest, TheStarMaskReplacesEverythingButWhatIsFixed) {
  v1::Site with_settings = ASite("a.example");
  with_settings.mutable_settings()->mutable_limits()->set_max_url(100);
  const v1::Site site = Create("farms/main", "a", with_settings);
  v1::Site change = ASite("b.example");
  change.set_name(site.name());
  const auto updated = TryUpdate(change, {"*"});
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_FALSE(updated->has_settings());
  EXPECT_EQ(updated->bindings(0).host(), "b.example");
  EXPECT_EQ(updated->organization(), "organizations/root");
  Create("farms/main", "c", ASite("a.example"));
}

TEST_F(ResourcesTest, TheStarMaskKeepsTheOrganizationAndTheHome) {
  Create("", "acme", v1::Organization());
  v1::Site site = ASite("a.example");
  site.set_organization("organizations/acme");
  v1::Site change = ASite("b.example");
  change.set_name(Create("farms/main", "a", site).name());
  const auto updated = TryUpdate(change, {"*"});
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->organization(), "organizations/acme");
  const v1::Account bob = Create("farms/main", "bob", v1::Account());
  v1::Account suspended;
  suspended.set_name(bob.name());
  suspended.set_state(v1::SUSPENDED);
  const auto account = TryUpdate(suspended, {"*"});
  ASSERT_TRUE(account.ok()) << account.status();
  EXPECT_EQ(account->home().path(), bob.home().path());
}

TEST_F(ResourcesTest, AnUpdateThatChangesNothingMakesNoChange) {
  const v1::Site site = Create("farms/main", "a", ASite("a.example"));
  const auto revision = Revision();
  const auto updated = TryUpdate(site);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->DebugString(), site.DebugString());
  EXPECT_EQ(Revision(), revision);
}

TEST_F(ResourcesTest, WhatIsFixedAtCreationStays) {
  Create("", "acme", v1::Organization());
  const v1::Site site = Create("farms/main", "a", ASite("a.example"));
  v1::Site change;
  change.set_name(site.name());
  change.set_organization("organizations/acme");
  const auto moved = TryUpdate(change, {"organization"});
  EXPECT_EQ(moved.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(contract::FindDetail(moved.status())->violations(0).field(), "site.organization");
  v1::Account account = Create("farms/main", "bob", v1::Account());
  account.mutable_home()->set_path("elsewhere");
  EXPECT_EQ(TryUpdate(account, {"home"}).status().code(), StatusCode::kInvalidArgument);
  account.mutable_home()->clear_path();
  account.set_state(v1::SUSPENDED);
  const auto suspended = TryUpdate(account);
  ASSERT_TRUE(suspended.ok()) << suspended.status();
  EXPECT_FALSE(suspended->home().path().empty());
}

TEST_F(ResourcesTest, AnUnknownMaskPathIsRefused) {
  const v1::Site site = Create("farms/main", "a", ASite("a.example"));
  EXPECT_EQ(TryUpdate(site, {"bindigns"}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(TryUpdate(site, {"uid"}).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(ResourcesTest, AnOldEtagStopsTheWrite) {
  v1::Site site = Create("farms/main", "a", ASite("a.example"));
  site.set_state(v1::STOPPED);
  const auto second = TryUpdate(site);
  ASSERT_TRUE(second.ok());
  site.set_state(v1::STARTED);
  const auto late = TryUpdate(site);
  EXPECT_EQ(late.status().code(), StatusCode::kAborted);
  EXPECT_EQ(ReasonOf(late.status()), "ETAG_MISMATCH");
  EXPECT_EQ(ReasonOf(Delete(ResourceType::kSite, site.name(), site.etag())), "ETAG_MISMATCH");
  EXPECT_TRUE(Delete(ResourceType::kSite, site.name(), second->etag()).ok());
}

TEST_F(ResourcesTest, ARepeatedRequestGetsTheSameAnswer) {
  const WriteOptions options{.request_id = "r1", .request_fingerprint = "f1"};
  const auto first = TryCreate("farms/main", "a", ASite("a.example"), options);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto again = TryCreate("farms/main", "a", ASite("a.example"), options);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->DebugString(), first->DebugString());
  const auto other = TryCreate("farms/main", "b", ASite("b.example"),
                               {.request_id = "r1", .request_fingerprint = "f2"});
  EXPECT_EQ(other.status().code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(ReasonOf(other.status()), "REQUEST_ID_REUSED");
}

TEST_F(ResourcesTest, ValidateOnlyChecksEverythingAndChangesNothing) {
  const auto revision = Revision();
  const WriteOptions options{.validate_only = true};
  const auto tried = TryCreate("farms/main", "a", ASite("a.example"), options);
  ASSERT_TRUE(tried.ok()) << tried.status();
  EXPECT_EQ(tried->name(), "farms/main/sites/a");
  EXPECT_EQ(Revision(), revision);
  Create("farms/main", "a", ASite("a.example"));
  EXPECT_EQ(ReasonOf(TryCreate("farms/main", "b", ASite("a.example"), options).status()),
            "BINDING_TAKEN");
}

TEST_F(ResourcesTest, ListsAreCompleteAcrossPages) {
  for (const char* id : {"e", "c", "a", "d", "b"}) {
    Create("farms/main", id, ASite(std::string(id) + ".example"));
  }
  std::vector<std::string> names;
  std::string token;
  do {
    const auto page = List(ResourceType::kSite, "farms/main", 2, token);
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_LE(page->resources.size(), 2U);
    for (const MessagePtr& site : page->resources) {
      names.push_back(static_cast<const v1::Site&>(*site).name().substr(17));
    }
    token = page->next_page_token;
  } while (!token.empty());
  EXPECT_THAT(names, ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_EQ(List(ResourceType::kSite, "farms/-", 0, "")->resources.size(), 5U);
  EXPECT_EQ(List(ResourceType::kSite, "farms/none", 0, "").status().code(),
            StatusCode::kNotFound);
}

TEST_F(ResourcesTest, APageTokenIsGoodForItsListOnly) {
  Create("farms/main", "a", ASite("a.example"));
  Create("farms/main", "b", ASite("b.example"));
  const std::string token =
      List(ResourceType::kSite, "farms/main", 1, "")->next_page_token;
  ASSERT_FALSE(token.empty());
  for (const std::string& bad : {token + "x", std::string("nonsense"), token}) {
    const auto type = bad == token ? ResourceType::kPool : ResourceType::kSite;
    EXPECT_EQ(List(type, "farms/main", 1, bad).status().code(),
              StatusCode::kInvalidArgument)
        << bad;
  }
}

TEST_F(ResourcesTest, PoolsGetIdentitiesOfTheirOwn) {
  const auto a = Create("farms/main", "a", v1::ApplicationPool());
  const auto b = Create("farms/main", "b", v1::ApplicationPool());
  EXPECT_NE(a.identity(), b.identity());
  v1::ApplicationPool change = a;
  change.set_identity(99);
  change.set_queue_length(50);
  const auto updated = TryUpdate(change);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->identity(), a.identity());
  v1::ApplicationPool stored;
  ASSERT_TRUE(stored.ParseFromString(store_.Find(a.name()).value()->body));
  EXPECT_EQ(stored.identity(), a.identity());
}

TEST_F(ResourcesTest, AccountsGetAHomeInAStoreWithRoom) {
  v1::FileStore small;
  small.set_path("/srv/small");
  small.mutable_homes()->add_fan_out(1);
  small.mutable_homes()->set_homes_per_leaf(1);
  Create("farms/main", "small", small);
  v1::FileStore plain;
  plain.set_path("/srv/plain");
  Create("farms/main", "plain", plain);

  const auto bob = Create("farms/main", "Bob", v1::Account());
  EXPECT_EQ(bob.name(), "farms/main/accounts/bob");
  EXPECT_EQ(bob.home().store(), "farms/main/stores/files");
  EXPECT_THAT(bob.home().path(), HasSubstr(std::to_string(bob.uid())));
  v1::Account chosen;
  chosen.mutable_home()->set_store("farms/main/stores/small");
  EXPECT_EQ(Create("farms/main", "carol", chosen).home().store(), "farms/main/stores/small");
  const auto full = TryCreate("farms/main", "dave", chosen);
  EXPECT_EQ(full.status().code(), StatusCode::kResourceExhausted) << full.status();
  chosen.mutable_home()->set_store("farms/main/stores/plain");
  EXPECT_EQ(TryCreate("farms/main", "erin", chosen).status().code(), StatusCode::kInvalidArgument);
  chosen.mutable_home()->set_store("farms/main/stores/files");
  chosen.mutable_home()->set_path("old/home");
  EXPECT_EQ(Create("farms/main", "fred", chosen).home().path(), "old/home");
}

TEST_F(ResourcesTest, ARowChangedByHandStopsNothingElse) {
  const v1::Site a = Create("farms/main", "a", ASite("a.example"));
  Create("farms/main", "b", ASite("b.example"));
  store_.OverwriteBody(ResourceType::kSite, a.uid(), "\xff\xff garbage");
  const auto page = List(ResourceType::kSite, "farms/main", 0, "");
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->resources.size(), 2U);
  EXPECT_EQ(static_cast<const v1::Site&>(*page->resources[0]).name(), a.name());
  EXPECT_EQ(Get<v1::Site>(a.name()).status().code(), StatusCode::kDataLoss);
  v1::Site whole = ASite("a.example");
  whole.set_name(a.name());
  ASSERT_TRUE(TryUpdate(whole, {"*"}).ok());
  EXPECT_EQ(Get<v1::Site>(a.name())->bindings(0).host(), "a.example");
}

TEST_F(ResourcesTest, TellsWhenTheDatabaseIsAway) {
  store_.SetAvailable(false);
  EXPECT_EQ(Get<v1::Farm>("farms/main").status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(TryCreate("farms/main", "a", ASite("a.example")).status().code(),
            StatusCode::kUnavailable);
}

}  // namespace
}  // namespace croft::control::domain
