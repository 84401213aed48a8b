#include "provisioning/placement.h"

#include <gtest/gtest.h>

#include <vector>

namespace croft::provisioning {
namespace {

StoreRoom ARoom(std::initializer_list<std::uint32_t> fan_out, std::int64_t used) {
  StoreRoom room;
  for (const std::uint32_t width : fan_out) {
    room.layout.add_fan_out(width);
  }
  room.layout.set_homes_per_leaf(10);
  room.used = used;
  return room;
}

TEST(Placement, ChoosesTheStoreWithMostFreeHomes) {
  const std::vector<StoreRoom> rooms = {ARoom({10}, 90), ARoom({5, 2}, 40), ARoom({10}, 60)};
  EXPECT_EQ(ChooseStore(rooms), 1U);
}

TEST(Placement, TakesTheFirstOfEquals) {
  const std::vector<StoreRoom> rooms = {ARoom({10}, 50), ARoom({10}, 50)};
  EXPECT_EQ(ChooseStore(rooms), 0U);
}

TEST(Placement, FindsNoneWhenAllAreFull) {
  const std::vector<StoreRoom> rooms = {ARoom({10}, 100), ARoom({1}, 50), ARoom({}, 0)};
  EXPECT_EQ(FreeHomes(rooms[1]), 0);
  EXPECT_EQ(ChooseStore(rooms), std::nullopt);
  EXPECT_EQ(ChooseStore({}), std::nullopt);
}

}  // namespace
}  // namespace croft::provisioning
