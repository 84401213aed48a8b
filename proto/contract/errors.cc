#include "proto/contract/errors.h"

#include <absl/strings/cord.h>

#include <string>

#include "proto/base/error.h"

namespace croft::contract {
namespace {

constexpr char kDetailUrl[] = "type.googleapis.com/croft.v1.ErrorDetail";
constexpr std::size_t kViolationsInMessage = 20;

}  // namespace

absl::Status WithDetail(absl::Status status, const v1::ErrorDetail& detail) {
  if (!status.ok()) {
    status.SetPayload(kDetailUrl, absl::Cord(detail.SerializeAsString()));
  }
  return status;
}

std::optional<v1::ErrorDetail> FindDetail(const absl::Status& status) {
  const auto payload = status.GetPayload(kDetailUrl);
  v1::ErrorDetail detail;
  if (!payload || !detail.ParseFromString(std::string(*payload))) {
    return std::nullopt;
  }
  return detail;
}

absl::Status InvalidFields(const std::vector<v1::FieldViolation>& violations) {
  if (violations.empty()) {
    return absl::OkStatus();
  }
  v1::ErrorDetail detail;
  detail.set_reason("FIELD_INVALID");
  std::string message;
  for (const v1::FieldViolation& violation : violations) {
    const auto shown = static_cast<std::size_t>(detail.violations_size());
    *detail.add_violations() = violation;
    if (shown > kViolationsInMessage) {
      continue;
    }
    message += shown == 0 ? "" : "; ";
    message += shown == kViolationsInMessage
                   ? fmt::format("and {} more", violations.size() - shown)
                   : fmt::format("{}: {}", violation.field(), violation.description());
  }
  return WithDetail(absl::InvalidArgumentError(message), detail);
}

}  // namespace croft::contract
