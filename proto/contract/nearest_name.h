// The valid name nearest to a mistyped one. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace croft::contract {

// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
std::size_t EditDistance(std::string_view a, std::string_view b);

// The nearest of `names`, letter case ignored; empty if none is near enough to be meant. The first
// of equals.
std::string NearestName(std::string_view mistyped, const std::vector<std::string>& names);

}  // namespace croft::contract
