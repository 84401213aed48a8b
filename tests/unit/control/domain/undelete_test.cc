// What became of deleted resources, and back.
#include <gmock/gmock.h>

#include "tests/unit/control/domain/estate.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;

class UndeleteTest : public DomainTest {
 protected:
  absl::Status Undelete(ResourceType type, const std::string& name, std::int64_t uid = 0) {
    return resources_.Undelete(caller_, type, name, uid, {}).status();
  }
  static constexpr char kShop[] = "farms/main/sites/shop";
};

TEST_F(UndeleteTest, BringsBackTheSameResourceWithAllItHad) {
  const v1::Site shop = Create("farms/main", "shop", ASite("shop.example"));
  ASSERT_TRUE(Delete(ResourceType::kSite, kShop).ok());
  EXPECT_TRUE(absl::IsNotFound(Get<v1::Site>(kShop).status()));
  const auto deleted = As<v1::Site>(resources_.Get(caller_, ResourceType::kSite, kShop, true));
  ASSERT_TRUE(deleted.ok()) << deleted.status();
  EXPECT_EQ(deleted->uid(), shop.uid());
  EXPECT_EQ(deleted->bindings_size(), 1);
  EXPECT_TRUE(deleted->has_delete_time());
  EXPECT_TRUE(deleted->has_purge_time());

  const auto back = resources_.Undelete(caller_, ResourceType::kSite, kShop, 0, {});
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->counts.created(), 1);
  const auto read = Get<v1::Site>(kShop);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->ShortDebugString(), back->answer->ShortDebugString());
  EXPECT_EQ(read->uid(), shop.uid());
  EXPECT_FALSE(read->has_delete_time());
  EXPECT_EQ(ReasonOf(TryCreate("farms/main", "other", ASite("shop.example")).status()),
            "BINDING_TAKEN");
  EXPECT_EQ(ReasonOf(Delete(ResourceType::kPool, "farms/main/pools/web")), "REFERENCED");
  EXPECT_EQ(store_.ListChanges({.limit = 1, .resource = kShop})->front().resources(0).action(),
            "undelete");
}

TEST_F(UndeleteTest, ValidatesWithoutDoing) {
  Create("farms/main", "shop", ASite("shop.example"));
  ASSERT_TRUE(Delete(ResourceType::kSite, kShop).ok());
  const auto revision = Revision();
  EXPECT_TRUE(resources_.Undelete(caller_, ResourceType::kSite, kShop, 0, {.validate_only = true})
                  .status()
                  .ok());
  EXPECT_EQ(Revision(), revision);
  EXPECT_TRUE(absl::IsNotFound(Get<v1::Site>(kShop).status()));
}

TEST_F(UndeleteTest, IsRefusedWhereSomethingWasTakenMeanwhile) {
  Create("farms/main", "shop", ASite("shop.example"));
  EXPECT_EQ(ReasonOf(Undelete(ResourceType::kSite, kShop)), "NOT_DELETED");
  ASSERT_TRUE(Delete(ResourceType::kSite, kShop).ok());
  const v1::Site heir = Create("farms/main", "heir", ASite("shop.example"));
  const absl::Status taken = Undelete(ResourceType::kSite, kShop);
  EXPECT_EQ(taken.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(ReasonOf(taken), "BINDING_TAKEN");
  EXPECT_EQ(contract::FindDetail(taken)->resource(), heir.name());
  ASSERT_TRUE(Delete(ResourceType::kSite, heir.name()).ok());
  Create("farms/main", "shop", ASite("second.example"));
  EXPECT_EQ(ReasonOf(Undelete(ResourceType::kSite, kShop)), "NAME_TAKEN");
}

TEST_F(UndeleteTest, ChoosesTheLastOrTheOneWithTheUid) {
  const auto first = Create("farms/main", "shop", ASite("a.example")).uid();
  ASSERT_TRUE(Delete(ResourceType::kSite, kShop).ok());
  const auto second = Create("farms/main", "shop", ASite("b.example")).uid();
  ASSERT_TRUE(Delete(ResourceType::kSite, kShop).ok());
  ASSERT_TRUE(Undelete(ResourceType::kSite, kShop).ok());
  EXPECT_EQ(Get<v1::Site>(kShop)->uid(), second);
  ASSERT_TRUE(Delete(ResourceType::kSite, kShop).ok());
  ASSERT_TRUE(Undelete(ResourceType::kSite, kShop, first).ok());
  EXPECT_EQ(Get<v1::Site>(kShop)->uid(), first);
  EXPECT_TRUE(absl::IsNotFound(Undelete(ResourceType::kSite, kShop, 999'999)));
  EXPECT_TRUE(absl::IsNotFound(Undelete(ResourceType::kSite, "farms/main/sites/never")));
}

TEST_F(UndeleteTest, NeedsWhatItBelongedToAndWhatItNames) {
  Create("farms/main", "shop", ASite("shop.example"));
  ASSERT_TRUE(Delete(ResourceType::kSite, kShop).ok());
  ASSERT_TRUE(Delete(ResourceType::kPool, "farms/main/pools/web").ok());
  const absl::Status no_pool = Undelete(ResourceType::kSite, kShop);
  EXPECT_EQ(ReasonOf(no_pool), "FIELD_INVALID");
  ASSERT_TRUE(Undelete(ResourceType::kPool, "farms/main/pools/web").ok());
  ASSERT_TRUE(Undelete(ResourceType::kSite, kShop).ok());

  Create("", "two", v1::Farm());
  Create("farms/two", "n", v1::Node());
  ASSERT_TRUE(Delete(ResourceType::kNode, "farms/two/nodes/n").ok());
  ASSERT_TRUE(Delete(ResourceType::kFarm, "farms/two").ok());
  EXPECT_EQ(ReasonOf(Undelete(ResourceType::kNode, "farms/two/nodes/n")), "PARENT_GONE");
  Create("", "two", v1::Farm());  // another one
  EXPECT_EQ(ReasonOf(Undelete(ResourceType::kNode, "farms/two/nodes/n")), "PARENT_GONE");
  ASSERT_TRUE(Delete(ResourceType::kFarm, "farms/two").ok());
}

TEST_F(UndeleteTest, KeepsHomesAndIdentities) {
  const v1::Account bob = Create("farms/main", "bob", v1::Account());
  ASSERT_TRUE(Delete(ResourceType::kAccount, bob.name()).ok());
  ASSERT_TRUE(Undelete(ResourceType::kAccount, bob.name()).ok());
  EXPECT_EQ(Get<v1::Account>(bob.name())->home().path(), bob.home().path());
  v1::Account heir;
  *heir.mutable_home() = bob.home();
  EXPECT_EQ(ReasonOf(TryCreate("farms/main", "heir", heir).status()), "HOME_TAKEN");
  ASSERT_TRUE(Delete(ResourceType::kAccount, bob.name()).ok());
  Create("farms/main", "heir", heir);
  const absl::Status no_home = Undelete(ResourceType::kAccount, bob.name());
  EXPECT_EQ(ReasonOf(no_home), "HOME_TAKEN");
  EXPECT_EQ(contract::FindDetail(no_home)->resource(), "farms/main/accounts/heir");

  const v1::ApplicationPool first = Create("farms/main", "p1", v1::ApplicationPool());
  ASSERT_TRUE(Delete(ResourceType::kPool, first.name()).ok());
  const v1::ApplicationPool second = Create("farms/main", "p2", v1::ApplicationPool());
  ASSERT_EQ(second.identity(), first.identity());
  const absl::Status taken = Undelete(ResourceType::kPool, first.name());
  EXPECT_EQ(ReasonOf(taken), "IDENTITY_TAKEN");
  EXPECT_EQ(contract::FindDetail(taken)->resource(), second.name());
}

TEST_F(UndeleteTest, EndsWithThePurge) {
  Create("farms/main", "shop", ASite("shop.example"));
  ASSERT_TRUE(Delete(ResourceType::kSite, kShop).ok());
  ASSERT_TRUE(store_.Compact(std::chrono::system_clock::now() - std::chrono::hours(1)).ok());
  ASSERT_TRUE(Undelete(ResourceType::kSite, kShop).ok());
  ASSERT_TRUE(store_.Compact(std::chrono::system_clock::time_point::max()).ok());
  EXPECT_TRUE(Get<v1::Site>(kShop).ok()) << "a purge doesn't touch what lives";
  ASSERT_TRUE(Delete(ResourceType::kSite, kShop).ok());
  ASSERT_TRUE(store_.Compact(std::chrono::system_clock::time_point::max()).ok());
  EXPECT_TRUE(absl::IsNotFound(Undelete(ResourceType::kSite, kShop)));
}

}  // namespace
}  // namespace croft::control::domain
