// A series of numbers as a line of bars, for people. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace croft::admin_cli {

// At most `width` characters, each the sum of its share of the points: ▁ for 0 to █ for the
// largest, a blank where there was no point at all.
std::string Sparkline(const std::vector<std::optional<std::int64_t>>& points, std::size_t width);

}  // namespace croft::admin_cli
