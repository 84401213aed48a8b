#include "admin-cli/sparkline.h"

#include <algorithm>
#include <array>

namespace croft::admin_cli {

std::string Sparkline(const std::vector<std::optional<std::int64_t>>& points, std::size_t width) {
  constexpr std::array<const char*, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t count = std::min(points.size(), width);
  std::vector<std::optional<std::int64_t>> sums(count);
  for (std::size_t i = 0; i < points.size() && count > 0; ++i) {
    auto& sum = sums[i * count / points.size()];
    if (points[i].has_value()) {
      sum = sum.value_or(0) + std::max<std::int64_t>(*points[i], 0);
    }
  }
  std::int64_t largest = 0;
  for (const auto& sum : sums) {
    largest = std::max(largest, sum.value_or(0));
  }
  std::string line;
  for (const auto& sum : sums) {
    if (!sum.has_value()) {
      line += ' ';
      continue;
    }
    const double share =
        largest == 0 ? 0 : static_cast<double>(*sum) / static_cast<double>(largest);
    line += kBars[static_cast<std::size_t>(share * (kBars.size() - 1) + 0.5)];
  }
  return line;
}

}  // namespace croft::admin_cli
