#include "control/domain/apply.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>

#include <algorithm>

#include "control/domain/apply_order.h"
#include "control/domain/field_ownership.h"
#include "tests/unit/control/domain/estate.h"

namespace croft::control::domain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

v1::ApplyResourcesRequest Request(const std::string& text) {
  v1::ApplyResourcesRequest request;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &request)) << text;
  return request;
}

std::string SiteText(const std::string& id, const std::string& more) {
  return "resources { site { name: 'farms/main/sites/" + id +
         "' applications { path: '/' pool: 'farms/main/pools/web' root { store: "
         "'farms/main/stores/files' path: 'www' } } " +
         more + " } } ";
}

class ApplyTest : public DomainTest {
 protected:
  absl::StatusOr<v1::ApplyResourcesResponse> Apply(const v1::ApplyResourcesRequest& request) {
    return As<v1::ApplyResourcesResponse>(
        domain::Apply(store_, resources_.access(), caller_, request, "fingerprint"));
  }
  absl::StatusOr<v1::ApplyResourcesResponse> Apply(const std::string& text) {
    return Apply(Request(text));
  }
  static std::vector<std::string> Actions(const v1::ApplyResourcesResponse& response) {
    std::vector<std::string> actions;
    for (const v1::AppliedResource& result : response.results()) {
      actions.push_back(result.action() + " " + result.name());
    }
    return actions;
  }
  static std::vector<std::string> Violations(const absl::Status& status) {
    std::vector<std::string> fields;
    const auto detail = contract::FindDetail(status);
    for (const v1::FieldViolation& violation : detail->violations()) {
      fields.push_back(violation.field());
    }
    return fields;
  }
};

TEST_F(ApplyTest, OrderOfTheRequestDoesNotMatter) {
  const v1::ApplyResourcesRequest request = Request(
      "resources { site { name: 'farms/new/sites/shop' organization: 'organizations/b' "
      "applications "
      "  { path: '/' pool: 'farms/new/pools/web' root { store: 'farms/new/stores/files' } } } } "
      "resources { account { name: 'farms/new/accounts/bob' home { store: 'farms/new/stores/files' "
      "  } } } "
      "resources { pool { name: 'farms/new/pools/web' organization: 'organizations/b' } } "
      "resources { organization { name: 'organizations/b' organization: 'organizations/z' } } "
      "resources { organization { name: 'organizations/z' } } "
      "resources { store { name: 'farms/new/stores/files' path: '/srv' homes { fan_out: 2 } } } "
      "resources { farm { name: 'farms/new' } } "
      "resources { operator { name: 'operators/alice' organization: 'organizations/b' } }");
  const auto revision = Revision();
  const auto applied = Apply(request);
  ASSERT_TRUE(applied.ok()) << applied.status();
  EXPECT_EQ(applied->counts().created(), 8);
  EXPECT_EQ(applied->revision(), revision + 1);
  EXPECT_EQ(Revision(), revision + 1);
  EXPECT_EQ(Actions(*applied)[0], "create farms/new/sites/shop");
  EXPECT_EQ(Actions(*applied)[7], "create operators/alice");
  const auto again = Apply(request);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->counts().ShortDebugString(), "unchanged: 8");
  EXPECT_EQ(again->revision(), 0);
  EXPECT_EQ(Actions(*again)[0], " farms/new/sites/shop");
  EXPECT_EQ(Revision(), revision + 1);
}

TEST_F(ApplyTest, SaysWhichFieldsChange) {
  ASSERT_TRUE(Apply(SiteText("shop", "bindings { host: 'a.example' }")).ok());
  const auto applied =
      Apply(SiteText("shop", "bindings { host: 'b.example' } labels { key: 'k' value: 'v' }"));
  ASSERT_TRUE(applied.ok()) << applied.status();
  std::vector<std::string> changes;
  for (const v1::FieldChange& change : applied->results(0).changes()) {
    changes.push_back(change.path() + ": " + change.before() + " -> " + change.after());
  }
  EXPECT_THAT(changes,
              ElementsAre("labels.k:  -> v", "bindings: *:80:a.example -> *:80:b.example"));
}

TEST_F(ApplyTest, NothingIsHalfApplied) {
  std::string text;
  for (int i = 0; i < 60; ++i) {
    const std::string number = std::to_string(i);
    text +=
        SiteText("s" + number, "bindings { host: 'h" + (i == 50 ? "49" : number) + ".example' }");
  }
  const auto revision = Revision();
  const auto applied = Apply(text);
  ASSERT_TRUE(absl::IsAlreadyExists(applied.status())) << applied.status();
  EXPECT_EQ(ReasonOf(applied.status()), "BINDING_TAKEN");
  EXPECT_THAT(std::string(applied.status().message()),
              HasSubstr("resources[50], farms/main/sites/s50: "));
  EXPECT_EQ(Revision(), revision);
  EXPECT_FALSE(Get<v1::Site>("farms/main/sites/s0").ok());
}

TEST_F(ApplyTest, ErrorsNameTheFieldByItsPlace) {
  const auto bad =
      Apply(SiteText("good", "") +
            SiteText("bad", "bindings { host: 'a.example' } bindings { host: 'no no' }"));
  EXPECT_THAT(Violations(bad.status()), ElementsAre("resources[1].site.bindings[1].host"));
  EXPECT_THAT(std::string(bad.status().message()), HasSubstr("farms/main/sites/bad"));
  const auto names = Apply(SiteText("a", "") + "resources {} resources { site {} } " +
                           SiteText("a", "") + "resources { farm { name: 'sites/x' } }");
  EXPECT_THAT(Violations(names.status()),
              ElementsAre("resources[1]", "resources[2].site.name", "resources[3].site.name",
                          "resources[4].farm.name"));
  EXPECT_THAT(std::string(names.status().message()), HasSubstr("is resources[0] already"));
  v1::ApplyResourcesRequest many;
  for (int i = 0; i <= kApplyResourcesMax; ++i) {
    many.add_resources();
  }
  EXPECT_THAT(Violations(Apply(many).status()), ElementsAre("resources"));
  EXPECT_EQ(
      ReasonOf(Apply("resources { token { name: 'tokens/t' operator: 'operators/x' } }").status()),
      "SECRET_NEEDED");
}

TEST_F(ApplyTest, SitesExchangeBindings) {
  ASSERT_TRUE(Apply(SiteText("a", "bindings { host: 'a.example' }") +
                    SiteText("b", "bindings { host: 'b.example' }"))
                  .ok());
  const auto applied = Apply(SiteText("a", "bindings { host: 'b.example' }") +
                             SiteText("b", "bindings { host: 'a.example' }"));
  ASSERT_TRUE(applied.ok()) << applied.status();
  EXPECT_EQ(applied->counts().updated(), 2);
  EXPECT_EQ(Get<v1::Site>("farms/main/sites/a")->bindings(0).host(), "b.example");
}

TEST_F(ApplyTest, AManagersDroppedFieldsAreUnset) {
  const std::string manager = " field_manager: 'billing'";
  ASSERT_TRUE(Apply(SiteText("shop",
                             "labels { key: 'a' value: '1' } labels { key: 'b' value: '1' }"
                             " settings { limits { max_query: 5 } }") +
                    manager)
                  .ok());
  v1::Site other;
  other.set_name("farms/main/sites/shop");
  (*other.mutable_labels())["ops"] = "1";
  ASSERT_TRUE(TryUpdate(other, {"labels.ops"}, {.field_manager = "ops"}).ok());
  const auto applied = Apply(SiteText("shop", "labels { key: 'a' value: '1' }") + manager);
  ASSERT_TRUE(applied.ok()) << applied.status();
  const auto site = Get<v1::Site>("farms/main/sites/shop");
  EXPECT_FALSE(site->settings().limits().has_max_query());
  EXPECT_EQ(site->labels_size(), 2);
  EXPECT_TRUE(site->labels().contains("ops"));
  EXPECT_THAT(OwnedPaths(site->field_owners(), "billing"), ElementsAre("applications", "labels.a"));
  const auto again = Apply(SiteText("shop", "labels { key: 'a' value: '1' }") + manager);
  EXPECT_EQ(again->counts().ShortDebugString(), "unchanged: 1");
}

TEST_F(ApplyTest, AnotherManagersFieldIsRefusedWithoutForce) {
  ASSERT_TRUE(Apply(SiteText("shop", "state: STOPPED") + " field_manager: 'billing'").ok());
  const std::string text = SiteText("shop", "state: STARTED") + " field_manager: 'ops'";
  const auto refused = Apply(text);
  EXPECT_EQ(ReasonOf(refused.status()), "FIELD_OWNED");
  EXPECT_THAT(Violations(refused.status()), ElementsAre("resources[0].site.state"));
  const auto forced = Apply(text + " force: true");
  ASSERT_TRUE(forced.ok()) << forced.status();
  EXPECT_EQ(Get<v1::Site>("farms/main/sites/shop")->state(), v1::STARTED);
}

class PruneTest : public ApplyTest {
 protected:
  PruneTest() {
    for (const std::string id : {"a", "b", "c", "d"}) {
      v1::Site site = ASite(id + ".example");
      (*site.mutable_labels())["app"] = id == "d" ? "other" : "shop";
      Create("farms/main", id, site);
    }
    v1::ApplicationPool pool;
    (*pool.mutable_labels())["app"] = "shop";
    Create("farms/main", "old", pool);
  }
  static std::string Kept(const std::string& more) {
    return SiteText("a", "labels { key: 'app' value: 'shop' }") + " prune_selector: 'app=shop' " +
           more;
  }
};

TEST_F(PruneTest, TakesTheRightNumber) {
  const auto wrong = Apply(Kept("expect_pruned: 1"));
  EXPECT_EQ(ReasonOf(wrong.status()), "COUNT_MISMATCH");
  EXPECT_THAT(std::string(wrong.status().message()),
              HasSubstr("deletes 2 resources, not 1: farms/main/sites/b, farms/main/sites/c"));
  EXPECT_EQ(ReasonOf(Apply(Kept("")).status()), "COUNT_MISMATCH");
  EXPECT_EQ(ReasonOf(Apply(SiteText("a", "") + "expect_pruned: 1").status()), "COUNT_MISMATCH");
  EXPECT_TRUE(Get<v1::Site>("farms/main/sites/b").ok());
  const auto seen = Apply(Kept("validate_only: true"));
  ASSERT_TRUE(seen.ok()) << seen.status();
  EXPECT_EQ(seen->counts().deleted(), 2);
  EXPECT_TRUE(Get<v1::Site>("farms/main/sites/b").ok());
  const auto pruned = Apply(Kept("expect_pruned: 2"));
  ASSERT_TRUE(pruned.ok()) << pruned.status();
  EXPECT_THAT(Actions(*pruned), ElementsAre(" farms/main/sites/a", "delete farms/main/sites/c",
                                            "delete farms/main/sites/b"));
  EXPECT_FALSE(Get<v1::Site>("farms/main/sites/b").ok());
  EXPECT_TRUE(Get<v1::Site>("farms/main/sites/d").ok());
  EXPECT_TRUE(Get<v1::ApplicationPool>("farms/main/pools/old").ok()) << "no pool was applied";
  EXPECT_EQ(Apply(Kept(""))->counts().ShortDebugString(), "unchanged: 1");
}

// The pruned site goes before its successor takes the binding, the pool after its last user went.
TEST_F(PruneTest, GoesInAnOrderThatWorks) {
  v1::Site user = ASite("user.example");
  user.mutable_applications(0)->set_pool("farms/main/pools/old");
  (*user.mutable_labels())["app"] = "shop";
  Create("farms/main", "user", user);
  const auto applied = Apply("resources { pool { name: 'farms/main/pools/new' } } " +
                             SiteText("successor", "bindings { host: 'user.example' }") +
                             " prune_selector: 'app=shop' expect_pruned: 5");
  ASSERT_TRUE(applied.ok()) << applied.status();
  EXPECT_EQ(applied->counts().created(), 2);
  EXPECT_EQ(applied->counts().deleted(), 5);
  EXPECT_FALSE(Get<v1::ApplicationPool>("farms/main/pools/old").ok());
}

TEST_F(PruneTest, ASelectorThatIsNoneIsRefused) {
  for (const std::string selector : {"app", "App=shop", "app=shop,=x"}) {
    EXPECT_THAT(
        Violations(Apply(SiteText("a", "") + "prune_selector: '" + selector + "'").status()),
        testing::Each(HasSubstr("prune_selector")))
        << selector;
  }
}

}  // namespace
}  // namespace croft::control::domain
