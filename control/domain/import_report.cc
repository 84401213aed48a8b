#include "control/domain/import_report.h"

#include <algorithm>

#include "proto/contract/errors.h"

namespace croft::control::domain {

void ImportReport::Fail(std::int64_t line, std::string_view field, std::string_view reason) {
  v1::ImportRowError& error = *response_.add_errors();
  error.set_line(line);
  error.set_field(std::string(field));
  error.set_reason(std::string(reason));
  counts_.set_failed(counts_.failed() + 1);
}

void ImportReport::Fail(std::int64_t line, const absl::Status& status) {
  const auto detail = contract::FindDetail(status);
  if (!detail.has_value() || detail->violations().empty()) {
    Fail(line, "", contract::MessageOf(status));
    return;
  }
  const v1::FieldViolation& first = detail->violations(0);
  Fail(line, first.field(), contract::MessageOf(status));
}

v1::ImportResourcesResponse ImportReport::Take() {
  *response_.mutable_counts() = counts_;
  std::stable_sort(response_.mutable_errors()->begin(), response_.mutable_errors()->end(),
                   [](const auto& a, const auto& b) { return a.line() < b.line(); });
  return std::move(response_);
}

}  // namespace croft::control::domain
