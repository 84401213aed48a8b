// Organizations, operators and tokens through the use cases: who sees and does what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/domain/administrator.h"
#include "control/domain/resource_import.h"
#include "control/identity/tokens.h"
#include "croft/v1/operator.pb.h"
#include "croft/v1/organization.pb.h"
#include "proto/base/clock.h"
#include "proto/contract/grant_text.h"
#include "tests/unit/control/domain/estate.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// organizations/root above hoster above reseller above customer; organizations/other beside hoster.
class Operators : public DomainTest {
 protected:
  Operators() {
    for (const auto& [id, parent] :
         {std::pair("hoster", "root"), std::pair("reseller", "hoster"),
          std::pair("customer", "reseller"), std::pair("other", "root")}) {
      v1::Organization organization;
      organization.set_organization(std::string("organizations/") + parent);
      Create("", id, organization);
    }
  }

  static v1::Operator AnOperator(const std::string& organization,
                                 std::initializer_list<const char*> grants) {
    v1::Operator made;
    made.set_organization("organizations/" + organization);
    for (const char* grant : grants) {
      *made.add_grants() = contract::ParseGrant(std::string("organizations/") + grant).value();
    }
    return made;
  }

  absl::StatusOr<Caller> CallerOf(const std::string& secret) {
    const auto session = store_.FindOperatorToken(identity::HashToken(secret));
    if (!session.ok() || !session->has_value()) {
      return absl::UnauthenticatedError("no such token");
    }
    return resources_.access().Identify(**session);
  }

  // A new operator, in the organization of its first grant.
  Caller Login(const std::string& id, std::initializer_list<const char*> grants) {
    const std::string first = *grants.begin();
    Create("", id, AnOperator(first.substr(0, first.find(':')), grants));
    v1::Token token;
    token.set_operator_("operators/" + id);
    const auto caller = CallerOf(Create("", id, token).secret());
    EXPECT_TRUE(caller.ok()) << caller.status();
    return caller.value_or(Caller());
  }

  // As `caller` from here on.
  void Become(const Caller& caller) { caller_ = caller; }

  std::vector<std::string> Names(ResourceType type) {
    std::vector<std::string> names;
    ListRequest request{.type = type, .parent = contract::Facts(type).in_farm ? "farms/main" : ""};
    do {
      request.page_size = 2;
      const auto page = resources_.List(caller_, request);
      EXPECT_TRUE(page.ok()) << page.status();
      if (!page.ok()) {
        break;
      }
      for (const MessagePtr& one : page->resources) {
        names.push_back(
            one->GetReflection()->GetString(*one, one->GetDescriptor()->FindFieldByName("name")));
      }
      request.page_token = page->next_page_token;
    } while (!request.page_token.empty());
    return names;
  }

  v1::Site SiteOf(const std::string& organization, const std::string& id) {
    v1::Site site;
    site.set_organization("organizations/" + organization);
    site.add_bindings()->set_host(id + ".example");
    return site;
  }
};

TEST_F(Operators, SeeTheirOrganizationsAndThoseBelowAndNothingElse) {
  Create("farms/main", "h", SiteOf("hoster", "h"));
  Create("farms/main", "r", SiteOf("reseller", "r"));
  Create("farms/main", "c", SiteOf("customer", "c"));
  Create("farms/main", "o", SiteOf("other", "o"));
  Become(Login("rita", {"reseller:VIEWER"}));
  EXPECT_THAT(Names(ResourceType::kSite), ElementsAre("farms/main/sites/c", "farms/main/sites/r"));
  EXPECT_THAT(Names(ResourceType::kOrganization),
              ElementsAre("organizations/customer", "organizations/reseller"));
  EXPECT_THAT(Names(ResourceType::kStore), IsEmpty());
  EXPECT_THAT(Names(ResourceType::kFarm), IsEmpty());
  EXPECT_TRUE(Get<v1::Site>("farms/main/sites/c").ok());
  for (const char* name : {"farms/main/sites/h", "farms/main/sites/o", "farms/main/sites/none"}) {
    EXPECT_TRUE(absl::IsNotFound(Get<v1::Site>(name).status())) << name;
  }
  EXPECT_EQ(Get<v1::Site>("farms/main/sites/o").status().message(),
            "farms/main/sites/o does not exist; \"croft list sites\" shows what does");
  EXPECT_TRUE(absl::IsNotFound(Get<v1::Organization>("organizations/hoster").status()));
  EXPECT_TRUE(absl::IsNotFound(Get<v1::Farm>("farms/main").status()));
}

TEST_F(Operators, ListsOfTypesOutsideAGrantAreEmpty) {
  Create("farms/main", "r", SiteOf("reseller", "r"));
  Become(Login("ann", {"reseller:OPERATOR:account"}));
  EXPECT_THAT(Names(ResourceType::kSite), IsEmpty());
  EXPECT_TRUE(absl::IsNotFound(Get<v1::Site>("farms/main/sites/r").status()));
}

TEST_F(Operators, WriteNeedsTheRoleOfTheType) {
  const v1::Site site = Create("farms/main", "r", SiteOf("reseller", "r"));
  const v1::Site foreign = Create("farms/main", "o", SiteOf("other", "o"));
  Become(Login("vic", {"reseller:VIEWER"}));
  v1::Site changed = site;
  changed.set_state(v1::STOPPED);
  const absl::Status refused = TryUpdate(changed, {"state"}).status();
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
  EXPECT_THAT(refused.ToString(),
              HasSubstr("role OPERATOR for type site in organizations/reseller"));
  EXPECT_EQ(ReasonOf(refused), "PERMISSION_MISSING");
  EXPECT_TRUE(absl::IsPermissionDenied(Delete(ResourceType::kSite, site.name())));
  EXPECT_TRUE(
      absl::IsPermissionDenied(TryCreate("farms/main", "new", SiteOf("customer", "new")).status()));
  EXPECT_TRUE(absl::IsNotFound(Delete(ResourceType::kSite, foreign.name())));
  EXPECT_TRUE(absl::IsNotFound(TryUpdate(foreign, {"state"}).status()));
  const absl::Status elsewhere = TryCreate("farms/main", "new", SiteOf("other", "new")).status();
  EXPECT_TRUE(absl::IsInvalidArgument(elsewhere)) << elsewhere;
  EXPECT_THAT(elsewhere.ToString(), HasSubstr("does not exist"));

  Become(SystemCaller("root"));
  Become(Login("olaf", {"reseller:OPERATOR"}));
  EXPECT_TRUE(TryUpdate(changed, {"state"}).ok());
  EXPECT_TRUE(TryCreate("farms/main", "new", SiteOf("customer", "new")).ok());
  EXPECT_TRUE(Delete(ResourceType::kSite, site.name()).ok());
  v1::Organization organization;
  organization.set_organization("organizations/reseller");
  for (const absl::Status& status :
       {TryCreate("", "eve", AnOperator("reseller", {"reseller:VIEWER"})).status(),
        TryCreate("", "t",
                  [] {
                    v1::Token t;
                    t.set_operator_("operators/olaf");
                    return t;
                  }())
            .status(),
        TryCreate("", "sub", organization).status(), TryCreate("", "farm", v1::Farm()).status(),
        TryCreate("farms/main", "root", SiteOf("root", "root")).status()}) {
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  }
}

TEST_F(Operators, OrganizationIsItsParentsToMakeAndRemoveAndItsOwnToDescribe) {
  Become(Login("adam", {"reseller:ADMINISTRATOR"}));
  v1::Organization below;
  below.set_organization("organizations/reseller");
  EXPECT_TRUE(TryCreate("", "sub", below).ok());
  v1::Organization own;
  own.set_name("organizations/reseller");
  own.set_display_name("Resellers");
  EXPECT_TRUE(TryUpdate(own, {"display_name"}).ok());
  EXPECT_TRUE(Delete(ResourceType::kOrganization, "organizations/sub").ok());
  EXPECT_TRUE(
      absl::IsPermissionDenied(Delete(ResourceType::kOrganization, "organizations/reseller")));
  own.set_organization("organizations/other");
  EXPECT_TRUE(absl::IsInvalidArgument(TryUpdate(own, {"organization"}).status()));
}

TEST_F(Operators, OrganizationWithMembersStays) {
  const absl::Status refused = Delete(ResourceType::kOrganization, "organizations/reseller");
  EXPECT_EQ(ReasonOf(refused), "REFERENCED");
  Login("carl", {"customer:VIEWER"});
  EXPECT_EQ(ReasonOf(Delete(ResourceType::kOrganization, "organizations/customer")), "REFERENCED");
}

TEST_F(Operators, FileStoreIsNamedByPermission) {
  Create("farms/main", "r", SiteOf("reseller", "r"));
  v1::Site with_store = SiteOf("reseller", "x");
  v1::Application& application = *with_store.add_applications();
  application.set_path("/");
  application.set_pool("farms/main/pools/web");
  application.mutable_root()->set_store("farms/main/stores/files");
  Become(Login("olaf", {"reseller:OPERATOR"}));
  const absl::Status refused = TryCreate("farms/main", "x", with_store).status();
  EXPECT_TRUE(absl::IsPermissionDenied(refused));
  EXPECT_THAT(refused.ToString(), HasSubstr("USE_FILE_STORE"));
  v1::Account account;
  account.set_organization("organizations/reseller");
  EXPECT_TRUE(TryCreate("farms/main", "placed", account).ok());
  account.mutable_home()->set_store("farms/main/stores/files");
  EXPECT_TRUE(absl::IsPermissionDenied(TryCreate("farms/main", "chosen", account).status()));

  Become(SystemCaller("root"));
  Become(Login("paula", {"reseller:OPERATOR:site:USE_FILE_STORE", "reseller:OPERATOR:pool"}));
  auto made = TryCreate("farms/main", "x", with_store);
  ASSERT_TRUE(made.ok()) << made.status();
  Become(SystemCaller("root"));
  Become(Login("otto", {"reseller:OPERATOR"}));
  made->set_state(v1::STOPPED);
  EXPECT_TRUE(TryUpdate(*made, {"state"}).ok());
  made->clear_etag();
  made->mutable_applications(0)->mutable_root()->set_path("of/others");
  EXPECT_TRUE(absl::IsPermissionDenied(TryUpdate(*made, {"applications"}).status()));
}

TEST_F(Operators, PoolServesItsOrganizationAndThoseBelow) {
  v1::ApplicationPool pool;
  pool.set_organization("organizations/reseller");
  Create("farms/main", "theirs", pool);
  const auto with_pool = [&](const std::string& organization, const std::string& used) {
    v1::Site site = SiteOf(organization, organization + used);
    v1::Application& application = *site.add_applications();
    application.set_path("/");
    application.set_pool("farms/main/pools/" + used);
    application.mutable_root()->set_store("farms/main/stores/files");
    return TryCreate("farms/main", organization + "-" + used, site).status();
  };
  EXPECT_TRUE(with_pool("customer", "theirs").ok());
  EXPECT_TRUE(with_pool("reseller", "theirs").ok());
  EXPECT_TRUE(with_pool("customer", "web").ok());
  EXPECT_THAT(with_pool("other", "theirs").ToString(), HasSubstr("is a pool of"));
  EXPECT_FALSE(with_pool("hoster", "theirs").ok());
  Become(Login("oz", {"other:OPERATOR::USE_FILE_STORE"}));
  EXPECT_THAT(with_pool("other", "theirs").ToString(), HasSubstr("does not exist"));
  EXPECT_TRUE(with_pool("other", "web").ok());
}

TEST_F(Operators, HolderOfWhatIsTakenIsNamedOnlyToWhoSeesIt) {
  Create("farms/main", "o", SiteOf("other", "shop"));
  v1::Account account;
  account.set_organization("organizations/other");
  *account.mutable_home() = Create("farms/main", "a", account).home();
  account.set_organization("organizations/reseller");
  Become(Login("olaf", {"reseller:OPERATOR::USE_FILE_STORE"}));
  const absl::Status taken = TryCreate("farms/main", "r", SiteOf("reseller", "shop")).status();
  EXPECT_EQ(ReasonOf(taken), "BINDING_TAKEN");
  EXPECT_EQ(taken.ToString().find("farms/main/sites/o"), std::string::npos) << taken;
  const absl::Status no_home = TryCreate("farms/main", "r", account).status();
  EXPECT_EQ(ReasonOf(no_home), "HOME_TAKEN");
  EXPECT_EQ(no_home.ToString().find("farms/main/accounts/a"), std::string::npos) << no_home;
}

TEST_F(Operators, NobodyGrantsMoreThanTheyHave) {
  Create("", "boss", AnOperator("reseller", {"root:ADMINISTRATOR"}));
  Become(Login("adam", {"reseller:ADMINISTRATOR"}));
  EXPECT_TRUE(TryCreate("", "a", AnOperator("reseller", {"customer:OPERATOR:site"})).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(
      TryCreate("", "b", AnOperator("reseller", {"reseller:OPERATOR::RUN_CODE"})).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      TryCreate("", "c", AnOperator("reseller", {"other:VIEWER"})).status()));
  v1::Operator boss = Get<v1::Operator>("operators/boss").value();
  boss.set_display_name("The boss");
  EXPECT_TRUE(TryUpdate(boss, {"display_name"}).ok());
  v1::Token token;
  token.set_operator_("operators/boss");
  EXPECT_TRUE(absl::IsInvalidArgument(TryCreate("", "steal", token).status()))
      << "the boss's grants name what adam doesn't see";
  *token.add_scope() = contract::ParseGrant("organizations/customer:OPERATOR").value();
  EXPECT_TRUE(TryCreate("", "narrow", token).ok());
}

TEST_F(Operators, GrantsAreJudgedByThemselvesFirst) {
  const absl::Status status = TryCreate("", "x",
                                        [] {
                                          v1::Operator bad;
                                          bad.add_grants()->set_organization("acme");
                                          v1::Grant& second = *bad.add_grants();
                                          second.set_organization("organizations/none");
                                          second.set_role(v1::VIEWER);
                                          second.add_types("web");
                                          second.add_permissions(v1::PERMISSION_UNSPECIFIED);
                                          return bad;
                                        }())
                                  .status();
  for (const char* field : {"operator.grants[0].organization", "operator.grants[0].role",
                            "operator.grants[1].types[0]", "operator.grants[1].permissions[0]"}) {
    EXPECT_THAT(status.ToString(), HasSubstr(field));
  }
  EXPECT_THAT(TryCreate("", "x", AnOperator("root", {"none:VIEWER"})).status().ToString(),
              HasSubstr("operator.grants[0].organization"));
}

TEST_F(Operators, TokensSecretIsAnsweredOnceAndStoredNowhere) {
  Create("", "alice", AnOperator("reseller", {"reseller:OPERATOR"}));
  v1::Token token;
  token.set_operator_("operators/alice");
  const WriteOptions options{.request_id = "r1", .request_fingerprint = "f"};
  const auto made = TryCreate("", "ci", token, options);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE(made->secret().starts_with("croft_"));
  EXPECT_EQ(made->secret().size(), 6U + 43U);
  EXPECT_EQ(made->organization(), "organizations/reseller");
  EXPECT_EQ(made->expire_time().seconds() - made->create_time().seconds(), 90 * 24 * 60 * 60);
  const auto again = TryCreate("", "ci", token, options);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->uid(), made->uid());
  EXPECT_EQ(again->secret(), "");
  EXPECT_EQ(Get<v1::Token>("tokens/ci")->secret(), "");
  EXPECT_EQ(Get<v1::Token>("tokens/ci")->expire_time().seconds(), made->expire_time().seconds());
  EXPECT_EQ(store_.Find("tokens/ci").value()->body.find("croft_"), std::string::npos);
  const auto planned = TryCreate("", "plan", token, {.validate_only = true});
  EXPECT_EQ(planned->secret(), "");
  EXPECT_EQ(CallerOf(made->secret())->operator_name, "operators/alice");
}

TEST_F(Operators, TokenWithoutAnOperatorIsTheCallersOwn) {
  const Caller adam = Login("adam", {"reseller:ADMINISTRATOR"});
  Become(adam);
  const auto made = TryCreate("", "mine", v1::Token());
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->operator_(), "operators/adam");
}

TEST_F(Operators, WhatATokenIsIsFixed) {
  Create("", "alice", AnOperator("reseller", {"reseller:OPERATOR"}));
  v1::Token token;
  token.set_operator_("operators/alice");
  token.set_lifetime(1000);
  token = Create("", "ci", token);
  (*token.mutable_labels())["use"] = "ci";
  EXPECT_TRUE(TryUpdate(token).ok());
  token.clear_etag();
  v1::Token changed = token;
  changed.set_lifetime(2000);
  EXPECT_TRUE(absl::IsInvalidArgument(TryUpdate(changed, {"lifetime"}).status()));
  changed = token;
  *changed.add_scope() = contract::ParseGrant("organizations/root:VIEWER").value();
  EXPECT_TRUE(absl::IsInvalidArgument(TryUpdate(changed, {"scope"}).status()));
}

TEST_F(Operators, ScopeNarrowsAToken) {
  Create("farms/main", "r", SiteOf("reseller", "r"));
  Create("farms/main", "c", SiteOf("customer", "c"));
  Create("", "alice", AnOperator("reseller", {"reseller:OPERATOR"}));
  v1::Token token;
  token.set_operator_("operators/alice");
  *token.add_scope() = contract::ParseGrant("organizations/customer:VIEWER:site").value();
  const std::string secret = Create("", "ci", token).secret();
  Become(*CallerOf(secret));
  EXPECT_THAT(Names(ResourceType::kSite), ElementsAre("farms/main/sites/c"));
  EXPECT_THAT(Names(ResourceType::kOrganization), IsEmpty());
  EXPECT_TRUE(absl::IsPermissionDenied(Delete(ResourceType::kSite, "farms/main/sites/c")));
  EXPECT_TRUE(absl::IsNotFound(Delete(ResourceType::kSite, "farms/main/sites/r")));
}

TEST_F(Operators, DisabledOrDeletedOperatorsTokensAreRefused) {
  Create("", "alice", AnOperator("reseller", {"reseller:OPERATOR"}));
  v1::Token token;
  token.set_operator_("operators/alice");
  const std::string secret = Create("", "ci", token).secret();
  ASSERT_TRUE(CallerOf(secret).ok());
  v1::Operator alice = Get<v1::Operator>("operators/alice").value();
  alice.set_disabled(true);
  ASSERT_TRUE(TryUpdate(alice, {"disabled"}).ok());
  EXPECT_TRUE(absl::IsUnauthenticated(CallerOf(secret).status()));
  alice = Get<v1::Operator>("operators/alice").value();
  alice.set_disabled(false);
  ASSERT_TRUE(TryUpdate(alice, {"disabled"}).ok());
  EXPECT_TRUE(CallerOf(secret).ok());
  ASSERT_TRUE(Delete(ResourceType::kOperator, "operators/alice").ok());
  EXPECT_TRUE(absl::IsUnauthenticated(CallerOf(secret).status()));
  EXPECT_TRUE(absl::IsNotFound(Get<v1::Token>("tokens/ci").status()));
  Create("", "alice", AnOperator("reseller", {"reseller:OPERATOR"}));
  EXPECT_TRUE(absl::IsUnauthenticated(CallerOf(secret).status()));
}

TEST_F(Operators, ImportIsJudgedRowByRow) {
  v1::Account taken;
  taken.set_organization("organizations/other");
  Create("farms/main", "taken", taken);
  Become(Login("olaf", {"reseller:OPERATOR"}));
  ImportRows batch;
  for (const auto& [id, organization, store] :
       {std::tuple("a", "customer", ""), std::tuple("b", "other", ""),
        std::tuple("c", "reseller", "farms/main/stores/files"), std::tuple("d", "root", ""),
        std::tuple("taken", "customer", "")}) {
    v1::Account& account = *batch.Add()->mutable_resource()->mutable_account();
    account.set_name(std::string("farms/main/accounts/") + id);
    account.set_organization(std::string("organizations/") + organization);
    if (*store != '\0') {
      account.mutable_home()->set_store(store);
    }
  }
  const auto response = Import(store_, resources_.access(), caller_, batch, {});
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->counts().created(), 1);
  ASSERT_EQ(response->errors_size(), 4);
  EXPECT_THAT(response->errors(0).reason(), HasSubstr("does not exist"));
  EXPECT_THAT(response->errors(1).reason(), HasSubstr("USE_FILE_STORE"));
  EXPECT_THAT(response->errors(2).reason(), HasSubstr("role OPERATOR"));
  EXPECT_THAT(response->errors(3).reason(), HasSubstr("is taken"));
  EXPECT_EQ(response->errors(3).reason().find("organizations"), std::string::npos);
}

TEST_F(Operators, FirstAdministratorIsMadeOnceAndTokensOfBeforeGetNames) {
  const FakeClock clock;
  const std::string older = identity::MakeOperatorToken();
  store_.AddUnclaimedToken(identity::HashToken(older));
  const auto kept = KeepAdministratorToken(store_, resources_, clock, older);
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(*kept, older);
  EXPECT_EQ(CallerOf(older)->who, "administrator");
  EXPECT_EQ(*KeepAdministratorToken(store_, resources_, clock, older), older);
  EXPECT_THAT(Names(ResourceType::kToken), ElementsAre("tokens/administrator"));
  const auto another = KeepAdministratorToken(store_, resources_, clock, "");
  ASSERT_TRUE(another.ok()) << another.status();
  EXPECT_THAT(Names(ResourceType::kToken),
              ElementsAre("tokens/administrator", "tokens/administrator-2"));
  Become(*CallerOf(*another));
  EXPECT_TRUE(TryCreate("", "second", v1::Farm()).ok());
}

}  // namespace
}  // namespace croft::control::domain
