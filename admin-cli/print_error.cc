// Errors as output.h shows them: what, why, and the way out.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "admin-cli/output.h"
#include "proto/contract/errors.h"

namespace croft::admin_cli {
namespace {

struct WayOut {
  std::string_view reason;
  std::string_view text;
};

// Where the message itself doesn't say what to do next. By the detail's reason, which is the name
// of the status where control gave no other.
constexpr WayOut kWaysOut[] = {
    {"UNAUTHENTICATED",
     "the token is wrong, expired or revoked: get a new one (croft create token), then croft set "
     "context NAME token-file=FILE"},
    {"FIELD_OWNED",
     "leave the field to its manager, or write with that --field-manager, or take it over with "
     "--force"},
};

std::string_view WayOutOf(const absl::Status& status, const std::string& reason) {
  const std::string_view message = contract::MessageOf(status);
  const auto* const way = std::find_if(std::begin(kWaysOut), std::end(kWaysOut),
                                       [&](const WayOut& one) { return one.reason == reason; });
  const bool told = way == std::end(kWaysOut) || message.find("--") != std::string_view::npos;
  return told ? std::string_view() : way->text;
}

std::string TextOf(const v1::FieldViolation& violation) {
  const bool says_value =
      violation.value().empty() ||
      violation.description().find('"' + violation.value() + '"') != std::string::npos;
  return violation.field() + ": " + (says_value ? "" : "\"" + violation.value() + "\": ") +
         violation.description();
}

void SayError(const std::string& message) {
  const bool coloured = IsColoured(Stream::kError);
  std::fputs(coloured ? "\033[31mcroft:\033[0m " : "croft: ", stderr);
  Say(message);
}

void SayViolations(const std::string& message, const v1::ErrorDetail& detail) {
  const auto& violations = detail.violations();
  // The message of a refused input is its violations in a row; they are told once.
  const bool told = message.starts_with(violations[0].field() + ": ");
  if (told && violations.size() == 1) {
    SayError(TextOf(violations[0]));
    return;
  }
  SayError(told ? fmt::format("{} fields are refused", violations.size()) : message);
  for (const auto& violation : violations) {
    Say("  " + TextOf(violation));
  }
}

}  // namespace

void PrintError(const absl::Status& status) {
  const std::string message(status.message());
  const auto detail = contract::FindDetail(status);
  if (detail.has_value() && !detail->violations().empty()) {
    SayViolations(message, *detail);
  } else {
    SayError(message);
  }
  if (!detail.has_value()) {
    return;
  }
  if (const std::string_view way = WayOutOf(status, detail->reason()); !way.empty()) {
    Say("  way out: " + std::string(way));
  } else if (detail->retryable()) {
    Say("  way out: it passes by itself; try again");
  }
}

}  // namespace croft::admin_cli
