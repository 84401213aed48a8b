#include "proto/contract/errors.h"

#include <absl/strings/cord.h>

#include <string>

#include "proto/base/error.h"

namespace croft::contract {
namespace {

constexpr char kDetailUrl[] = "type.googleapis.com/croft.v1.ErrorDetail";
// Message and detail travel in HTTP/2 trailers, of which a gRPC client takes 8 KiB in all; the
// detail as base64.
constexpr std::size_t kMessageBytesMax = 1200;
constexpr std::size_t kDetailBytesMax = 3600;

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

v1::ErrorDetail CompleteDetail(const absl::Status& status) {
  if (auto own = FindDetail(status)) {
    return *std::move(own);
  }
  v1::ErrorDetail detail;
  detail.set_reason(absl::StatusCodeToString(status.code()));
  detail.set_retryable(absl::IsUnavailable(status) || absl::IsAborted(status));
  return detail;
}

absl::Status InvalidFields(const std::vector<v1::FieldViolation>& violations) {
  if (violations.empty()) {
    return absl::OkStatus();
  }
  v1::ErrorDetail detail;
  detail.set_reason("FIELD_INVALID");
  std::string message;
  std::size_t detail_bytes = 0;
  std::size_t shown = 0;
  for (const v1::FieldViolation& violation : violations) {
    const std::string sentence =
        fmt::format("{}{}: {}", shown == 0 ? "" : "; ", violation.field(), violation.description());
    detail_bytes += violation.ByteSizeLong() + 4;
    if (detail_bytes > kDetailBytesMax && shown > 0) {
      break;
    }
    *detail.add_violations() = violation;
    if (message.size() + sentence.size() <= kMessageBytesMax || shown == 0) {
      message += sentence;
      ++shown;
    }
  }
  if (shown < violations.size()) {
    message += fmt::format("; and {} more", violations.size() - shown);
  }
  return WithDetail(absl::InvalidArgumentError(message), detail);
}

}  // namespace croft::contract
