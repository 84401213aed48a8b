#include "control/reports/history_steps.h"

#include <algorithm>
#include <array>

#include "proto/base/error.h"

namespace croft::control::reports {
namespace {

using store::kHistorySteps;

// With steps chosen from those below there are about a hundred.
constexpr std::int64_t kPointsChosen = 150;
// Steps people think in; each a multiple of the one kept step or another.
constexpr std::array<std::int64_t, 16> kRound = {
    10,   30,       60,       2 * 60,   5 * 60,    600,    15 * 60,    30 * 60,
    3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86'400, 7 * 86'400, 30 * 86'400};
// A step is read once its rows have had this long to be written.
constexpr std::int64_t kWritten = 3;

std::int64_t CeilTo(std::int64_t time, std::int64_t step) {
  return (time + step - 1) / step * step;
}

// The shortest steps that are kept as long as that.
std::size_t FinestLevel(std::int64_t since, std::int64_t now,
                        const store::HistoryRetention& retention) {
  for (std::size_t level = 0; level < kHistorySteps.size(); ++level) {
    if (since >= now - retention.keep[level].count()) {
      return level;
    }
  }
  return kHistorySteps.size() - 1;
}

std::int64_t ChosenStep(std::int64_t span, std::int64_t finest) {
  const std::int64_t wanted = std::max(finest, span / kPointsChosen);
  const auto fits = std::ranges::find_if(
      kRound, [&](std::int64_t step) { return step >= wanted && step % finest == 0; });
  return fits == kRound.end() ? CeilTo(wanted, kRound.back()) : *fits;
}

}  // namespace

absl::StatusOr<HistorySpan> ChooseSteps(std::int64_t since, std::int64_t until, std::int64_t step,
                                        std::int64_t now,
                                        const store::HistoryRetention& retention) {
  if (since >= until) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "since must be before until, and before now where until is left out");
  }
  const std::int64_t finest = kHistorySteps[FinestLevel(since, now, retention)];
  HistorySpan span;
  span.step = step <= 0 ? ChosenStep(until - since, finest) : CeilTo(step, finest);
  while (span.level + 1 < kHistorySteps.size() && span.step % kHistorySteps[span.level + 1] == 0) {
    ++span.level;
  }
  span.from = since / span.step * span.step;
  // Of a step that goes on there is what was written of it, if anything was.
  const std::int64_t written = (now - kWritten) / kHistorySteps[0] * kHistorySteps[0];
  span.to = std::max(span.from, CeilTo(std::min(until, written), span.step));
  if ((span.to - span.from) / span.step > kPointsMax) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "step_ms {} makes {} points of the time from since to until, at most {} are "
                 "given; take {} or more, or 0 for about 100 points",
                 span.step * 1000, (span.to - span.from) / span.step, kPointsMax,
                 CeilTo((span.to - span.from) / kPointsMax + 1, finest) * 1000);
  }
  return span;
}

}  // namespace croft::control::reports
