#include "control/reports/ranking.h"

#include <algorithm>
#include <utility>

namespace croft::control::reports {
namespace {

constexpr double kKeptPerStep = 0.891;  // a half in six steps
constexpr double kForgotten = 0.01;

using Scored = std::pair<double, std::int64_t>;

// The better score first, and of two alike the older resource, so that the order stands still.
bool IsBusier(const Scored& a, const Scored& b) {
  return a.first != b.first ? a.first > b.first : a.second < b.second;
}

}  // namespace

void Ranking::Add(std::int64_t uid, std::int64_t growth) {
  if (growth > 0) {
    scores_[uid] += static_cast<double>(growth);
  }
}

void Ranking::Age() {
  for (auto& [uid, score] : scores_) {
    score *= kKeptPerStep;
  }
  std::erase_if(scores_, [](const auto& item) { return item.second < kForgotten; });
  if (scores_.size() <= kCandidatesMax) {
    return;
  }
  std::unordered_map<std::int64_t, double> kept;
  for (const std::int64_t uid : Top(kCandidatesMax)) {
    kept[uid] = scores_[uid];
  }
  scores_ = std::move(kept);
}

std::vector<std::int64_t> Ranking::Top(std::size_t limit) const {
  std::vector<Scored> scored;
  scored.reserve(scores_.size());
  for (const auto& [uid, score] : scores_) {
    scored.emplace_back(score, uid);
  }
  const auto end = scored.begin() + static_cast<std::ptrdiff_t>(std::min(limit, scored.size()));
  std::partial_sort(scored.begin(), end, scored.end(), IsBusier);
  std::vector<std::int64_t> uids;
  for (auto at = scored.begin(); at != end; ++at) {
    uids.push_back(at->second);
  }
  return uids;
}

}  // namespace croft::control::reports
