#include "admin-cli/subject.h"

#include <google/protobuf/util/time_util.h>

#include <charconv>

#include "admin-cli/nouns.h"
#include "proto/base/error.h"
#include "proto/contract/field_path.h"
#include "proto/contract/field_text.h"
#include "proto/contract/label_rules.h"
#include "proto/contract/text_rules.h"

namespace croft::admin_cli {
namespace {

using google::protobuf::Timestamp;
using google::protobuf::util::TimeUtil;

constexpr auto kUsage = absl::StatusCode::kUnimplemented;

// A text in quotes, as filters take it.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
    }
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

absl::StatusOr<std::string> ParseObject(std::string_view text, std::string_view farm) {
  const auto slash = text.find('/');
  if (slash != std::string_view::npos && text.find('/', slash + 1) == std::string_view::npos) {
    if (const auto noun = FindNoun(text.substr(0, slash)); noun.ok()) {
      return FullName(**noun, text.substr(slash + 1), farm);
    }
  }
  if (const auto parsed = contract::ParseResourceName(text); !parsed.ok()) {
    return Error(kUsage,
                 "\"{}\" is no object; name one as TYPE/NAME (site/shop) or in full "
                 "(farms/main/sites/shop)",
                 text);
  }
  return std::string(text);
}

absl::StatusOr<std::string> SubjectOf(const std::vector<std::string>& names, std::string_view farm,
                                      std::string_view usage) {
  if (names.empty()) {
    return "";
  }
  if (names.size() == 2) {
    const auto noun = FindNoun(names[0]);
    return noun.ok() ? absl::StatusOr<std::string>(FullName(**noun, names[1], farm))
                     : noun.status();
  }
  if (names.size() == 1 && (names[0] == "platform" || names[0].find('/') != std::string::npos)) {
    return ParseObject(names[0], farm);
  }
  return Error(kUsage, "{}", usage);
}

Timestamp Now() { return TimeUtil::GetCurrentTime(); }

absl::StatusOr<Timestamp> ParseSince(std::string_view text, const Timestamp& now) {
  Timestamp at;
  if (TimeUtil::FromString(std::string(text), &at)) {
    return at;
  }
  const auto ago = contract::ParseQuantity(text, v1::MILLISECONDS);
  if (!ago.ok() || *ago < 0) {
    return Error(kUsage,
                 "\"{}\" is neither how long ago (2h, 30min, 7d) nor a time "
                 "(2026-01-31T12:00:00Z)",
                 text);
  }
  const std::int64_t since = TimeUtil::TimestampToMilliseconds(now) - *ago;
  return TimeUtil::MillisecondsToTimestamp(since > 0 ? since : 0);
}

absl::StatusOr<std::string> FilterOf(std::string_view filter, std::string_view selector) {
  std::string all;
  for (const std::string_view part : contract::SplitList(selector)) {
    const auto equals = part.find('=');
    const bool differs = equals != std::string_view::npos && equals > 0 && part[equals - 1] == '!';
    const std::string_view key = part.substr(0, equals == std::string_view::npos ? part.size()
                                                : differs                        ? equals - 1
                                                                                 : equals);
    if (!contract::CheckLabelKey(key).ok()) {
      return Error(
          kUsage, "--selector: \"{}\" is no label; it is app=shop, app!=shop or app (there at all)",
          part);
    }
    if (!all.empty()) {
      all += " AND ";
    }
    all += equals == std::string_view::npos
               ? fmt::format("labels:{}", key)
               : fmt::format("labels.{} {} {}", key, differs ? "!=" : "=",
                             Quoted(part.substr(equals + 1)));
  }
  if (filter.empty()) {
    return all;
  }
  return all.empty() ? std::string(filter) : fmt::format("{} AND ({})", all, filter);
}

absl::StatusOr<std::int64_t> ParseNumber(std::string_view text, std::string_view what) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number <= 0) {
    return Error(kUsage, "{} is a number above 0, not \"{}\"", what, text);
  }
  return number;
}

}  // namespace croft::admin_cli
