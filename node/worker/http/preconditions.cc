#include "node/worker/http/preconditions.h"

#include "node/worker/http/etag.h"
#include "node/worker/http/http_date.h"

namespace croft::node::worker::http {
namespace {

using Match = bool (*)(std::string_view, std::string_view);

bool AnyTagMatches(std::string_view list, std::string_view etag, Match match) {
  while (true) {
    const std::string_view tag = TakeEtag(list);
    if (tag.empty()) {
      return false;
    }
    if (match(tag, etag)) {
      return true;
    }
  }
}

bool ModifiedAfter(const std::string& date, std::int64_t last_modified, bool if_invalid) {
  const auto seconds = ParseHttpDate(date);
  return seconds.has_value() ? last_modified > *seconds : if_invalid;
}

}  // namespace

Precondition Evaluate(const ConditionalHeaders& headers, const Validators& validators) {
  if (!headers.if_match.empty()) {
    if (headers.if_match != "*" &&
        !AnyTagMatches(headers.if_match, validators.etag, &StrongMatch)) {
      return Precondition::kFailed;
    }
  } else if (!headers.if_unmodified_since.empty() &&
             ModifiedAfter(headers.if_unmodified_since, validators.last_modified, false)) {
    return Precondition::kFailed;
  }
  if (!headers.if_none_match.empty()) {
    const bool matches = headers.if_none_match == "*" ||
                         AnyTagMatches(headers.if_none_match, validators.etag, &WeakMatch);
    return matches ? Precondition::kNotModified : Precondition::kProceed;
  }
  if (!headers.if_modified_since.empty() &&
      !ModifiedAfter(headers.if_modified_since, validators.last_modified, true)) {
    return Precondition::kNotModified;
  }
  return Precondition::kProceed;
}

bool RangeApplies(const ConditionalHeaders& headers, const Validators& validators) {
  if (headers.if_range.empty()) {
    return true;
  }
  if (headers.if_range.front() == '"' || headers.if_range.starts_with("W/")) {
    return StrongMatch(headers.if_range, validators.etag);
  }
  const auto seconds = ParseHttpDate(headers.if_range);
  return seconds.has_value() && validators.strong && *seconds == validators.last_modified;
}

}  // namespace croft::node::worker::http
