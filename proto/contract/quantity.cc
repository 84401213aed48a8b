#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "proto/base/error.h"
#include "proto/contract/field_path.h"
#include "proto/contract/text_rules.h"

namespace croft::contract {
namespace {

struct UnitName {
  std::string_view name;  // lower case
  std::string_view shown;
  std::int64_t factor;
};

constexpr std::array<UnitName, 9> kBytes = {{{"tib", "TiB", std::int64_t{1} << 40},
                                             {"tb", "TB", 1'000'000'000'000},
                                             {"gib", "GiB", std::int64_t{1} << 30},
                                             {"gb", "GB", 1'000'000'000},
                                             {"mib", "MiB", std::int64_t{1} << 20},
                                             {"mb", "MB", 1'000'000},
                                             {"kib", "KiB", 1024},
                                             {"kb", "KB", 1000},
                                             {"b", "", 1}}};
constexpr std::array<UnitName, 6> kMilliseconds = {{{"d", "d", 86'400'000},
                                                    {"h", "h", 3'600'000},
                                                    {"min", "min", 60'000},
                                                    {"m", "min", 60'000},
                                                    {"s", "s", 1000},
                                                    {"ms", "ms", 1}}};

std::span<const UnitName> NamesOf(v1::Unit unit) {
  switch (unit) {
    case v1::BYTES:
      return kBytes;
    case v1::MILLISECONDS:
      return kMilliseconds;
    default:
      return {};
  }
}

std::string_view Expected(v1::Unit unit) {
  switch (unit) {
    case v1::BYTES:
      return "a size such as 30MB, 512MiB or 4096";
    case v1::MILLISECONDS:
      return "a duration such as 250ms, 30s, 20min or 1h30m";
    default:
      return "a whole number";
  }
}

absl::Status Invalid(std::string_view text, v1::Unit unit) {
  return Error(absl::StatusCode::kInvalidArgument, "\"{}\" is not {}", Shorten(text, 60),
               Expected(unit));
}

template <typename Accept>
std::string_view TakeWhile(std::string_view& text, const Accept& accept) {
  const auto end = std::find_if_not(text.begin(), text.end(), accept);
  const auto size = static_cast<std::size_t>(end - text.begin());
  const std::string_view taken = text.substr(0, size);
  text.remove_prefix(size);
  return taken;
}

// Digits to a number; nothing if there are none, or too many.
std::optional<std::int64_t> ParseDigits(std::string_view digits) {
  std::int64_t value = 0;
  for (const char c : digits) {
    if (__builtin_mul_overflow(value, std::int64_t{10}, &value) ||
        __builtin_add_overflow(value, std::int64_t{c - '0'}, &value)) {
      return std::nullopt;
    }
  }
  return digits.empty() ? std::nullopt : std::optional(value);
}

// 0.`digits` of `factor`, if that is a whole number.
std::optional<std::int64_t> FractionOf(std::string_view digits, std::int64_t factor) {
  constexpr std::size_t kDigitsMax = 6;
  while (!digits.empty() && digits.back() == '0') {
    digits.remove_suffix(1);
  }
  if (digits.empty()) {
    return 0;
  }
  std::int64_t scale = 1;
  for (std::size_t i = 0; i < digits.size() && i < kDigitsMax; ++i) {
    scale *= 10;
  }
  std::int64_t product = 0;
  if (digits.size() > kDigitsMax ||
      __builtin_mul_overflow(ParseDigits(digits).value_or(0), factor, &product) ||
      product % scale != 0) {
    return std::nullopt;
  }
  return product / scale;
}

struct Part {
  std::int64_t value = 0;
  bool has_unit = false;
};

// Takes one "1.5GiB" off the front of `text`; nothing if there is none, or it is no whole number of
// base units.
std::optional<Part> TakePart(std::string_view& text, v1::Unit unit) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto whole = ParseDigits(TakeWhile(text, is_digit));
  std::string_view fraction;
  if (text.substr(0, 1) == ".") {
    text.remove_prefix(1);
    fraction = TakeWhile(text, is_digit);
  }
  while (text.substr(0, 1) == " ") {
    text.remove_prefix(1);
  }
  const std::string name = LowerAscii(TakeWhile(text, [](char c) { return IsLetter(c); }));
  std::int64_t factor = 1;
  if (!name.empty()) {
    const auto names = NamesOf(unit);
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const UnitName& known) { return known.name == name; });
    if (found == names.end()) {
      return std::nullopt;
    }
    factor = found->factor;
  }
  Part part{0, !name.empty()};
  if (!whole || __builtin_mul_overflow(*whole, factor, &part.value)) {
    return std::nullopt;
  }
  const auto extra = FractionOf(fraction, factor);
  if (!extra || __builtin_add_overflow(part.value, *extra, &part.value)) {
    return std::nullopt;
  }
  return part;
}

}  // namespace

absl::StatusOr<std::int64_t> ParseQuantity(std::string_view text, v1::Unit unit) {
  std::string_view rest = text;
  const bool is_negative = NamesOf(unit).empty() && rest.substr(0, 1) == "-";
  rest.remove_prefix(is_negative ? 1 : 0);
  // "1h30m" adds up; a number without a unit stands alone.
  std::int64_t total = 0;
  bool is_first = true;
  while (is_first || !rest.empty()) {
    const auto part = TakePart(rest, unit);
    const bool is_alone = is_first && rest.empty();
    if (!part || __builtin_add_overflow(total, part->value, &total) ||
        (!is_alone && (unit != v1::MILLISECONDS || !part->has_unit))) {
      return Invalid(text, unit);
    }
    is_first = false;
  }
  return is_negative ? -total : total;
}

std::string FormatQuantity(std::int64_t value, v1::Unit unit) {
  std::string shortest = std::to_string(value);
  if (value <= 0) {
    return shortest;
  }
  bool is_plain = true;
  for (const UnitName& name : NamesOf(unit)) {
    if (value % name.factor != 0) {
      continue;
    }
    std::string text = fmt::format("{}{}", value / name.factor, name.shown);
    // A duration takes its largest unit, a size the unit that says it shortest (4KiB, 30MB).
    if (is_plain || (unit == v1::BYTES && text.size() < shortest.size())) {
      shortest = std::move(text);
      is_plain = false;
    }
  }
  return shortest;
}

}  // namespace croft::contract
