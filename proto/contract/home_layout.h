// Where a new home goes in a store's fan-out. The result is stored with the account, so a change of
// layout moves nothing. Pure.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

#include "croft/v1/store.pb.h"

namespace croft::contract {

inline constexpr std::int64_t kHomesPerLeafDefault = 200;

// Leaf directories of the layout.
std::int64_t LeafCount(const v1::HomeLayout& layout);
// LeafCount x homes_per_leaf.
std::int64_t HomeCapacity(const v1::HomeLayout& layout);

// Relative path of the home in `slot` (0-based, each used once): consecutive slots fill all leaves
// evenly; its last segment is derived from the account's uid, never from its name.
// resource_exhausted when slot >= HomeCapacity.
absl::StatusOr<std::string> HomePath(const v1::HomeLayout& layout, std::int64_t slot,
                                     std::int64_t account_uid);

}  // namespace croft::contract
