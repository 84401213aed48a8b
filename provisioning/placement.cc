#include "provisioning/placement.h"

#include <algorithm>

#include "proto/contract/home_layout.h"

namespace croft::provisioning {

std::int64_t FreeHomes(const StoreRoom& room) {
  return std::max<std::int64_t>(0, contract::HomeCapacity(room.layout) - room.used);
}

std::optional<std::size_t> ChooseStore(std::span<const StoreRoom> rooms) {
  std::optional<std::size_t> best;
  std::int64_t best_free = 0;
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    if (const std::int64_t free = FreeHomes(rooms[i]); free > best_free) {
      best = i;
      best_free = free;
    }
  }
  return best;
}

}  // namespace croft::provisioning
