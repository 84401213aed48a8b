#include "control/api/visibility.h"

#include "control/domain/failures.h"

namespace croft::control::api {

Visibility::Visibility(store::Store& store, domain::Access& access, const domain::Caller& caller)
    : store_(store),
      access_(access),
      caller_(caller),
      all_(domain::Access::SeesEverything(caller)) {}

absl::StatusOr<bool> Visibility::MayRead(const std::string& name) {
  if (all_) {
    return true;
  }
  if (const auto at = known_.find(name); at != known_.end()) {
    return at->second;
  }
  auto row = store_.Find(name);
  if (row.ok() && !row->has_value()) {
    row = store_.FindDeleted(name);
  }
  if (!row.ok()) {
    return row.status();
  }
  const auto may = row->has_value() ? access_.MayRead(caller_, **row) : absl::StatusOr<bool>(false);
  if (may.ok()) {
    known_[name] = *may;
  }
  return may;
}

absl::Status Visibility::Check(const std::string& name) {
  const auto may = MayRead(name);
  return !may.ok() ? may.status() : *may ? absl::OkStatus() : domain::NotFound(name);
}

}  // namespace croft::control::api
