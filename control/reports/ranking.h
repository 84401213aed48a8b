// The instances that were busiest lately, out of any number: each step's growth counts, and half of
// what was counted goes with every minute. Remembers a bounded number of candidates. Pure; not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace croft::control::reports {

class Ranking {
 public:
  static constexpr std::size_t kCandidatesMax = 10'000;

  void Add(std::int64_t uid, std::int64_t growth);
  // A step of ten seconds is over.
  void Age();
  // Busiest first.
  std::vector<std::int64_t> Top(std::size_t limit) const;

 private:
  std::unordered_map<std::int64_t, double> scores_;
};

}  // namespace croft::control::reports
