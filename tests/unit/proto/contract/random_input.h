// Seeded random input for property tests: the same in every run.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace croft::contract {

class RandomInput {
 public:
  explicit RandomInput(std::uint32_t seed) : engine_(seed) {}

  // 0..bound-1.
  std::size_t Below(std::size_t bound) { return engine_() % bound; }

  template <typename Item>
  const Item& Pick(const std::vector<Item>& items) {
    return items[Below(items.size())];
  }

  // Up to `pieces_max` of `pieces` in a row.
  std::string Text(const std::vector<std::string>& pieces, std::size_t pieces_max) {
    std::string text;
    for (std::size_t n = Below(pieces_max + 1); n > 0; --n) {
      text += Pick(pieces);
    }
    return text;
  }

 private:
  std::mt19937 engine_;
};

}  // namespace croft::contract
