// The text of a filter taken apart, without knowing any resource type; filter.cc checks the
// comparisons. Pure.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <string>
#include <string_view>

#include "proto/contract/filter.h"

namespace croft::contract {

inline constexpr std::size_t kFilterBytesMax = 4096;
inline constexpr int kFilterDepthMax = 20;
inline constexpr int kFilterComparisonsMax = 100;

// "labels.customer" "=" "acme", as written.
struct RawComparison {
  std::string_view path;
  Comparison::Operator op = Comparison::Operator::kEqual;
  std::string text;
  bool starts_open = false;
  bool ends_open = false;
};

// Judges one comparison: what is wrong with it, or what it means.
using CheckComparison = std::function<absl::StatusOr<Comparison>(const RawComparison&)>;

// A conjunction, empty for an empty text.
absl::StatusOr<Filter::Node> ParseFilterText(std::string_view text, const CheckComparison& check);

}  // namespace croft::contract
