// Which file store a new home goes to. The directory inside it is the contract's (home_layout.h).
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "croft/v1/store.pb.h"

namespace croft::provisioning {

// A store as placement sees it.
struct StoreRoom {
  std::int64_t uid = 0;
  std::string name;
  v1::HomeLayout layout;
  std::int64_t used = 0;  // homes ever placed; a place is used once
};

// Homes that still fit; 0 for a full store, or one whose layout was made smaller.
std::int64_t FreeHomes(const StoreRoom& room);

// Index of the store with the most free homes, the first of equals; none when all are full.
std::optional<std::size_t> ChooseStore(std::span<const StoreRoom> rooms);

}  // namespace croft::provisioning
