#include "control/domain/grants.h"

#include <gtest/gtest.h>

#include <map>

#include "control/domain/access.h"
#include "control/domain/permission_fields.h"
#include "croft/v1/account.pb.h"
#include "croft/v1/site.pb.h"
#include "proto/contract/grant_text.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;

// root (1) above hoster (2) above reseller (3) above customer (4); other (5) is root's too.
const std::map<std::string, OrganizationPath> kPaths = {{"root", {1}},
                                                        {"hoster", {2, 1}},
                                                        {"reseller", {3, 2, 1}},
                                                        {"customer", {4, 3, 2, 1}},
                                                        {"other", {5, 1}}};

// "reseller:OPERATOR:site:USE_FILE_STORE".
ResolvedGrant Grant(const std::string& text) {
  const auto parsed = contract::ParseGrant("organizations/" + text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  ResolvedGrant grant = ResolveSets(*parsed);
  grant.organization_uid = kPaths.at(text.substr(0, text.find(':'))).front();
  return grant;
}

std::vector<ResolvedGrant> Grants(std::initializer_list<const char*> texts) {
  std::vector<ResolvedGrant> grants;
  for (const char* text : texts) {
    grants.push_back(Grant(text));
  }
  return grants;
}

OrganizationPath PathOf(const ResolvedGrant& grant) {
  for (const auto& [name, path] : kPaths) {
    if (path.front() == grant.organization_uid) {
      return path;
    }
  }
  return {};
}

TEST(Grants, RoleHoldsForItsTypesInItsOrganizationAndBelow) {
  struct Case {
    std::vector<ResolvedGrant> grants;
    std::string place;
    ResourceType type;
    v1::Role role;
  };
  const Case cases[] = {
      {{}, "root", ResourceType::kSite, v1::ROLE_UNSPECIFIED},
      {Grants({"reseller:OPERATOR"}), "reseller", ResourceType::kSite, v1::OPERATOR},
      {Grants({"reseller:OPERATOR"}), "customer", ResourceType::kSite, v1::OPERATOR},
      {Grants({"reseller:OPERATOR"}), "hoster", ResourceType::kSite, v1::ROLE_UNSPECIFIED},
      {Grants({"reseller:OPERATOR"}), "other", ResourceType::kSite, v1::ROLE_UNSPECIFIED},
      {Grants({"reseller:OPERATOR:site"}), "customer", ResourceType::kAccount,
       v1::ROLE_UNSPECIFIED},
      {Grants({"reseller:VIEWER", "customer:ADMINISTRATOR"}), "customer", ResourceType::kSite,
       v1::ADMINISTRATOR},
      {Grants({"reseller:VIEWER", "customer:ADMINISTRATOR"}), "reseller", ResourceType::kSite,
       v1::VIEWER},
      {Grants({"root:VIEWER"}), "customer", ResourceType::kToken, v1::VIEWER},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(RoleIn(c.grants, kPaths.at(c.place), c.type), c.role) << c.place;
  }
}

TEST(Grants, OnlyThoseAtTheRootReachItsOwnGround) {
  EXPECT_EQ(RoleIn(Grants({"root:VIEWER"}), {}, ResourceType::kFarm), v1::VIEWER);
  EXPECT_EQ(RoleIn(Grants({"hoster:ADMINISTRATOR"}), {}, ResourceType::kFarm),
            v1::ROLE_UNSPECIFIED);
  EXPECT_EQ(RoleIn(Grants({"root:ADMINISTRATOR:site"}), {}, ResourceType::kFarm),
            v1::ROLE_UNSPECIFIED);
}

TEST(Grants, EachTypeAndActionAsksForARole) {
  for (const contract::ResourceTypeFacts& facts : contract::AllResourceTypes()) {
    EXPECT_EQ(RequiredRole(facts.type, Action::kRead), v1::VIEWER) << facts.noun;
    const bool daily = facts.type == ResourceType::kSite || facts.type == ResourceType::kPool ||
                       facts.type == ResourceType::kAccount;
    for (const Action action :
         {Action::kCreate, Action::kUpdate, Action::kDelete, Action::kUndelete}) {
      EXPECT_EQ(RequiredRole(facts.type, action), daily ? v1::OPERATOR : v1::ADMINISTRATOR)
          << facts.noun;
    }
  }
}

TEST(Grants, PermissionIsBesideTheRole) {
  const auto has = [](std::initializer_list<const char*> grants, const char* place) {
    return HasPermission(Grants(grants), kPaths.at(place), ResourceType::kSite, v1::USE_FILE_STORE);
  };
  EXPECT_FALSE(has({"reseller:ADMINISTRATOR"}, "customer"));
  EXPECT_TRUE(has({"reseller:OPERATOR:site:USE_FILE_STORE"}, "customer"));
  EXPECT_FALSE(has({"reseller:OPERATOR:account:USE_FILE_STORE"}, "customer"));
  EXPECT_FALSE(has({"reseller:OPERATOR:site:RUN_CODE"}, "customer"));
  EXPECT_FALSE(has({"customer:OPERATOR::USE_FILE_STORE"}, "reseller"));
  EXPECT_TRUE(has({"root:ADMINISTRATOR"}, "customer"));
  EXPECT_FALSE(has({"root:OPERATOR"}, "customer"));
}

TEST(Grants, NobodyGivesMoreThanTheyHave) {
  const auto may = [](std::initializer_list<const char*> grants, const char* wanted) {
    const ResolvedGrant grant = Grant(wanted);
    return Includes(Grants(grants), grant, PathOf(grant));
  };
  EXPECT_TRUE(may({"root:ADMINISTRATOR"}, "customer:ADMINISTRATOR::RUN_CODE,USE_FILE_STORE"));
  EXPECT_TRUE(may({"reseller:ADMINISTRATOR"}, "customer:OPERATOR:site"));
  EXPECT_TRUE(may({"reseller:ADMINISTRATOR"}, "reseller:ADMINISTRATOR"));
  EXPECT_FALSE(may({"reseller:ADMINISTRATOR"}, "hoster:VIEWER"));
  EXPECT_FALSE(may({"reseller:ADMINISTRATOR"}, "other:VIEWER"));
  EXPECT_FALSE(may({"reseller:OPERATOR"}, "customer:ADMINISTRATOR"));
  EXPECT_FALSE(may({"reseller:ADMINISTRATOR"}, "customer:OPERATOR:site:USE_FILE_STORE"));
  EXPECT_FALSE(may({"reseller:ADMINISTRATOR:site"}, "customer:VIEWER"));
  EXPECT_TRUE(
      may({"reseller:OPERATOR:site", "reseller:VIEWER:account"}, "customer:VIEWER:site,account"));
}

TEST(Grants, ScopeAndGrantsBothHaveToAllow) {
  struct Case {
    std::vector<ResolvedGrant> grants, scope, both;
  };
  const Case cases[] = {
      {Grants({"hoster:ADMINISTRATOR"}), Grants({"customer:OPERATOR"}),
       Grants({"customer:OPERATOR"})},
      {Grants({"customer:OPERATOR"}), Grants({"hoster:ADMINISTRATOR"}),
       Grants({"customer:OPERATOR"})},
      {Grants({"reseller:VIEWER"}), Grants({"reseller:ADMINISTRATOR"}),
       Grants({"reseller:VIEWER"})},
      {Grants({"customer:OPERATOR"}), Grants({"other:OPERATOR"}), {}},
      {Grants({"customer:OPERATOR:site"}), Grants({"customer:OPERATOR:account"}), {}},
      {Grants({"customer:OPERATOR::USE_FILE_STORE"}), Grants({"customer:OPERATOR"}),
       Grants({"customer:OPERATOR"})},
      {Grants({"root:ADMINISTRATOR"}), Grants({"customer:OPERATOR:site:USE_FILE_STORE"}),
       Grants({"customer:OPERATOR:site:USE_FILE_STORE"})},
      {Grants({"hoster:VIEWER", "customer:OPERATOR"}), Grants({"reseller:OPERATOR"}),
       Grants({"reseller:VIEWER", "customer:OPERATOR"})},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Narrow(c.grants, c.scope, PathOf), c.both);
  }
}

TEST(PermissionFields, AreThoseOfMessagesThatDiffer) {
  v1::Site before;
  before.add_applications()->mutable_root()->set_store("farms/main/stores/a");
  before.mutable_applications(0)->mutable_root()->set_path("x");
  const auto paths = [](const google::protobuf::Message* from,
                        const google::protobuf::Message& to) {
    std::vector<std::string> found;
    for (const PermissionField& field : FindPermissionFields(from, to)) {
      EXPECT_EQ(field.permission, v1::USE_FILE_STORE);
      found.push_back(field.path);
    }
    return found;
  };
  using Paths = std::vector<std::string>;
  EXPECT_EQ(paths(nullptr, before), Paths{"applications[0].root.store"});
  EXPECT_EQ(paths(&before, before), Paths{});
  v1::Site after = before;
  after.set_state(v1::STOPPED);
  EXPECT_EQ(paths(&before, after), Paths{});
  after.mutable_applications(0)->mutable_root()->set_path("of/another");
  EXPECT_EQ(paths(&before, after), Paths{"applications[0].root.store"});
  after = before;
  after.mutable_applications(0)->add_virtual_directories()->mutable_root()->set_store(
      "farms/main/stores/a");
  EXPECT_EQ(paths(&before, after), Paths{"applications[0].virtual_directories[0].root.store"});
  after = before;
  after.clear_applications();
  EXPECT_EQ(paths(&before, after), Paths{});
}

}  // namespace
}  // namespace croft::control::domain
