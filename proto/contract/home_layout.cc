#include "proto/contract/home_layout.h"

#include "proto/base/error.h"

namespace croft::contract {
namespace {

std::size_t DecimalWidth(std::int64_t value) { return std::to_string(value).size(); }

}  // namespace

std::int64_t LeafCount(const v1::HomeLayout& layout) {
  if (layout.fan_out().empty()) {
    return 0;
  }
  std::int64_t leaves = 1;
  for (const std::uint32_t width : layout.fan_out()) {
    // A layout past what validation admits (1000 ^ 4) has no room at all.
    if (leaves > 1'000'000'000'000 || width > 1'000'000) {
      return 0;
    }
    leaves *= width;
  }
  return leaves;
}

std::int64_t HomeCapacity(const v1::HomeLayout& layout) {
  const std::int64_t per_leaf =
      layout.has_homes_per_leaf() ? layout.homes_per_leaf() : kHomesPerLeafDefault;
  std::int64_t capacity = 0;
  if (per_leaf <= 0 || __builtin_mul_overflow(LeafCount(layout), per_leaf, &capacity)) {
    return 0;
  }
  return capacity;
}

absl::StatusOr<std::string> HomePath(const v1::HomeLayout& layout, std::int64_t slot,
                                     std::int64_t account_uid) {
  const std::int64_t capacity = HomeCapacity(layout);
  if (slot < 0 || slot >= capacity) {
    return Error(absl::StatusCode::kResourceExhausted,
                 "the store's home layout has room for {} homes; widen homes.fan_out or raise "
                 "homes.homes_per_leaf",
                 capacity);
  }
  std::string path = layout.path();
  // Outermost level first, so that consecutive slots land in different outermost directories.
  std::int64_t rest = slot % LeafCount(layout);
  for (const std::uint32_t width : layout.fan_out()) {
    const std::int64_t directory = rest % width;
    rest /= width;
    path += path.empty() ? "" : "/";
    path += fmt::format("{:0{}}", directory, DecimalWidth(std::int64_t{width} - 1));
  }
  return fmt::format("{}/{}", path, account_uid);
}

}  // namespace croft::contract
