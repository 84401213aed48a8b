// Which points answer a question for counter history: their step, the kept steps they are made of,
// and where they begin and end. Pure. Times are seconds since 1970.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>

#include "control/store/counter_history.h"

namespace croft::control::reports {

// What one series has at most.
inline constexpr std::int64_t kPointsMax = 11'000;

struct HistorySpan {
  std::size_t level = 0;  // of store::kHistorySteps
  std::int64_t step = 0;
  std::int64_t from = 0, to = 0;  // multiples of the step
};

// `step` 0 chooses one that gives about a hundred points. invalid_argument when there is nothing
// between `since` and `until`, or too much.
absl::StatusOr<HistorySpan> ChooseSteps(std::int64_t since, std::int64_t until, std::int64_t step,
                                        std::int64_t now, const store::HistoryRetention& retention);

}  // namespace croft::control::reports
