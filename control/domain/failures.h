// The errors of use cases, each with its reason for programs and its way out for people.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "croft/v1/error.pb.h"

namespace croft::control::domain {

// not_found, reason NOT_FOUND.
absl::Status NotFound(std::string_view name);
// already_exists, reason NOT_DELETED: it need not be undeleted.
absl::Status NotDeleted(std::string_view name);
// not_found: no deleted resource of that name (and uid, if not 0) is left.
absl::Status NothingToUndelete(std::string_view name, std::int64_t uid);
// failed_precondition, reason PARENT_GONE: what a deleted resource belonged to was deleted too.
absl::Status ParentGone(std::string_view name, std::string_view parent);
// aborted, reason ETAG_MISMATCH.
absl::Status EtagMismatch(std::string_view name, std::string_view etag, std::string_view given);
// failed_precondition, reason REFERENCED: what still refers to the resource.
absl::Status Referenced(std::string_view name, const std::vector<std::string>& by);
// A field that a write may not change, as it would have become.
struct OwnedField {
  std::string path;
  std::string value;
  std::string owner;  // the manager
};
// already_exists, reason FIELD_OWNED, a violation for each. REQUIRES: there is one.
absl::Status FieldOwned(std::string_view name, const std::vector<OwnedField>& fields);
// failed_precondition, reason PROTECTED: the platform and the root organization.
absl::Status Protected(std::string_view name);
// already_exists, reason REQUEST_ID_REUSED.
absl::Status RequestIdReused(std::string_view request_id);
// failed_precondition, reason CHANGED_SINCE: a change can't be undone where a later one touched the
// same; `later` says what and in which revision.
absl::Status ChangedSince(std::string_view name, std::string_view later);
// failed_precondition, reasons COUNT_REQUIRED and COUNT_MISMATCH: how many resources a write is
// about was not said, or isn't what the caller expects.
absl::Status CountRequired(std::string_view message);
absl::Status CountMismatch(std::string_view message);
// failed_precondition, reason CANNOT_UNDO.
absl::Status CannotUndo(std::string_view name, std::string_view why);
// failed_precondition, reason WATCH_EXPIRED: what followed the token is not known any longer.
absl::Status WatchExpired(std::string_view why);
// What a caller who sees a resource lacks to do something with it.
struct Refusal {
  std::string who;           // "alice"
  std::string what;          // "change farms/main/sites/shop"
  std::string missing;       // "role OPERATOR for type site"
  std::string organization;  // where
};
// permission_denied, reason PERMISSION_MISSING, resource = the organization.
absl::Status RoleMissing(const Refusal& refusal);
// invalid_argument for one field.
absl::Status InvalidField(std::string_view field, std::string_view value,
                          std::string_view description);
v1::FieldViolation MakeViolation(std::string_view field, std::string_view value,
                                 std::string_view description);

// Whether the transaction may be tried again: another one came first.
bool IsConflict(const absl::Status& status);

}  // namespace croft::control::domain
