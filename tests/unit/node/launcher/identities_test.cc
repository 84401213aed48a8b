#include "node/launcher/identities.h"

#include <gmock/gmock.h>

namespace croft::node::launcher {
namespace {

TEST(IdentityRange, TakesTwoUserIds) {
  const auto range = ParseIdentityRange("58000-59999");
  ASSERT_TRUE(range.ok()) << range.status();
  EXPECT_EQ(range->first, 58000u);
  EXPECT_EQ(range->last, 59999u);
}

TEST(IdentityRange, RefusesWhatWouldLendSomebodyElsesIdentity) {
  for (const char* text :
       {"", "58000", "58000-", "-59999", "a-b", "58000-59999x", "58000 -59999", "0-59999",
        "999-59999", "59999-58000", "58000-58015", "60000-65534", "65535-70000", "65534-70000",
        "58000-4294967295", "58000-99999999999", "-58000--1"}) {
    const auto range = ParseIdentityRange(text);
    EXPECT_EQ(range.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(range.status().message()), testing::HasSubstr("identity range"));
  }
}

TEST(Identities, GivesEachPartItsPlaceInTheRange) {
  const Identities identities({58000, 58020}, true, {0, 0, {}});
  EXPECT_EQ(identities.Agent().uid, 58000u);
  EXPECT_TRUE(identities.Agent().groups.empty());
  EXPECT_EQ(identities.Listener().uid, 58001u);
  EXPECT_THAT(identities.Listener().groups, testing::ElementsAre(58000u)) << "reads the replica";
  EXPECT_EQ(identities.Worker(0)->uid, 58016u);
  EXPECT_EQ(identities.Worker(4)->gid, 58020u);
  EXPECT_TRUE(identities.Worker(4)->groups.empty());
}

TEST(Identities, NeverLeavesTheRange) {
  const Identities identities({58000, 58020}, true, {0, 0, {}});
  for (const std::uint32_t place : {5u, 1000u, 0x7fffffffu, 0xffffffffu, 0u - 58016u, 0u - 16u}) {
    EXPECT_EQ(identities.Worker(place).status().code(), absl::StatusCode::kInvalidArgument)
        << place;
  }
}

TEST(Identities, WithoutPrivilegeEveryoneIsTheSameButTheRangeStillHolds) {
  const Identities identities({58000, 58020}, false, {1000, 1001, {}});
  for (const Identity& identity :
       {identities.Agent(), identities.Listener(), *identities.Worker(3)}) {
    EXPECT_EQ(identity.uid, 1000u);
    EXPECT_EQ(identity.gid, 1001u);
    EXPECT_TRUE(identity.groups.empty());
  }
  EXPECT_FALSE(identities.Worker(5).ok());
}

}  // namespace
}  // namespace croft::node::launcher
