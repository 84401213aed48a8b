#include "proto/contract/nearest_name.h"

#include <algorithm>

#include "proto/contract/text_rules.h"

namespace croft::contract {
namespace {

// Longer input is no typing error, and costs time squared.
constexpr std::size_t kComparedBytesMax = 100;

}  // namespace

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, changed});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::string NearestName(std::string_view mistyped, const std::vector<std::string>& names) {
  if (mistyped.empty() || mistyped.size() > kComparedBytesMax) {
    return {};
  }
  const std::string lower = LowerAscii(mistyped);
  std::size_t best = std::max<std::size_t>(1, mistyped.size() / 3) + 1;
  std::string nearest;
  for (const std::string& name : names) {
    // By value: the two-argument form would refer to sizes that are gone.
    const auto [least, most] = std::minmax({name.size(), lower.size()});
    if (most - least >= best) {
      continue;
    }
    const std::size_t distance = EditDistance(lower, LowerAscii(name));
    if (distance < best) {
      best = distance;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace croft::contract
