#include "control/domain/failures.h"

#include "proto/base/error.h"
#include "proto/contract/errors.h"
#include "proto/contract/resource_name.h"

namespace croft::control::domain {
namespace {

absl::Status Fail(absl::StatusCode code, std::string_view reason, std::string_view resource,
                  std::string_view message) {
  v1::ErrorDetail detail;
  detail.set_reason(std::string(reason));
  detail.set_resource(std::string(resource));
  return contract::WithDetail(Error(code, "{}", message), detail);
}

std::string Join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += text.empty() ? "" : ", ";
    text += name;
  }
  return text;
}

}  // namespace

absl::Status NotFound(std::string_view name) {
  const auto parsed = contract::ParseResourceName(name);
  const std::string hint = parsed.ok() && parsed->type != contract::ResourceType::kPlatform
                               ? fmt::format("; \"croft list {}\" shows what does",
                                             contract::Facts(parsed->type).collection)
                               : "";
  return Fail(absl::StatusCode::kNotFound, "NOT_FOUND", name,
              fmt::format("{} does not exist{}", name, hint));
}

absl::Status NotDeleted(std::string_view name) {
  return Fail(absl::StatusCode::kAlreadyExists, "NOT_DELETED", name,
              fmt::format("{} exists; there is nothing to undelete", name));
}

absl::Status NothingToUndelete(std::string_view name, std::int64_t uid) {
  return Fail(absl::StatusCode::kNotFound, "NOT_FOUND", name,
              fmt::format("there is no deleted {}{}; a deleted resource can be undeleted for 30 "
                          "days",
                          name, uid == 0 ? "" : fmt::format(" with uid {}", uid)));
}

absl::Status ParentGone(std::string_view name, std::string_view parent) {
  return Fail(
      absl::StatusCode::kFailedPrecondition, "PARENT_GONE", parent,
      fmt::format("the {} that {} belonged to was deleted too; undelete that first", parent, name));
}

absl::Status EtagMismatch(std::string_view name, std::string_view etag, std::string_view given) {
  return Fail(absl::StatusCode::kAborted, "ETAG_MISMATCH", name,
              fmt::format("{} was changed meanwhile: its etag is {}, not {}; get it again and "
                          "repeat the change",
                          name, etag, given.substr(0, 40)));
}

absl::Status Referenced(std::string_view name, const std::vector<std::string>& by) {
  return Fail(absl::StatusCode::kFailedPrecondition, "REFERENCED", by.front(),
              fmt::format("{} is still used by {}; change or delete {} first", name, Join(by),
                          by.size() == 1 ? "it" : "them"));
}

absl::Status FieldOwned(std::string_view name, const std::vector<OwnedField>& fields) {
  const auto parsed = contract::ParseResourceName(name);
  const std::string prefix =
      parsed.ok() ? fmt::format("{}.", contract::Facts(parsed->type).noun) : "";
  v1::ErrorDetail detail;
  detail.set_reason("FIELD_OWNED");
  detail.set_resource(std::string(name));
  for (const OwnedField& field : fields) {
    *detail.add_violations() =
        MakeViolation(prefix + field.path, field.value,
                      fmt::format("belongs to the field manager \"{}\"", field.owner));
  }
  const OwnedField& first = fields.front();
  return contract::WithDetail(
      Error(absl::StatusCode::kAlreadyExists,
            "{} of {} belongs to the field manager \"{}\"{}; leave it to that, or take it over "
            "with --force",
            first.path, name, first.owner,
            fields.size() == 1 ? "" : fmt::format(" (and {} more fields)", fields.size() - 1)),
      detail);
}

absl::Status Protected(std::string_view name) {
  return Fail(absl::StatusCode::kFailedPrecondition, "PROTECTED", name,
              fmt::format("{} was made with the database and can't be deleted", name));
}

absl::Status RequestIdReused(std::string_view request_id) {
  return Fail(absl::StatusCode::kAlreadyExists, "REQUEST_ID_REUSED", "",
              fmt::format("request id {} was used for another request within the last 24 hours; "
                          "give each request an id of its own",
                          request_id.substr(0, 100)));
}

absl::Status ChangedSince(std::string_view name, std::string_view later) {
  return Fail(absl::StatusCode::kFailedPrecondition, "CHANGED_SINCE", name,
              fmt::format("later changes touched the same: {}; undo those first, or give force to "
                          "undo them too",
                          later));
}

absl::Status CountRequired(std::string_view message) {
  return Fail(absl::StatusCode::kFailedPrecondition, "COUNT_REQUIRED", "", std::string(message));
}

absl::Status CountMismatch(std::string_view message) {
  return Fail(absl::StatusCode::kFailedPrecondition, "COUNT_MISMATCH", "", std::string(message));
}

absl::Status CannotUndo(std::string_view name, std::string_view why) {
  return Fail(absl::StatusCode::kFailedPrecondition, "CANNOT_UNDO", name,
              fmt::format("{} {}; undo the change's other resources one by one", name, why));
}

absl::Status WatchExpired(std::string_view why) {
  return Fail(absl::StatusCode::kFailedPrecondition, "WATCH_EXPIRED", "",
              fmt::format("the watch can't go on from its resume_token: {}; start anew, without a "
                          "token and with send_existing",
                          why));
}

absl::Status RoleMissing(const Refusal& refusal) {
  return Fail(
      absl::StatusCode::kPermissionDenied, "PERMISSION_MISSING", refusal.organization,
      fmt::format("{} may not {}: it takes {} in {}; ask an administrator of {} for a grant",
                  refusal.who, refusal.what, refusal.missing, refusal.organization,
                  refusal.organization));
}

v1::FieldViolation MakeViolation(std::string_view field, std::string_view value,
                                 std::string_view description) {
  v1::FieldViolation violation;
  violation.set_field(std::string(field));
  violation.set_value(std::string(value.substr(0, 200)));
  violation.set_description(std::string(description));
  return violation;
}

absl::Status InvalidField(std::string_view field, std::string_view value,
                          std::string_view description) {
  return contract::InvalidFields({MakeViolation(field, value, description)});
}

bool IsConflict(const absl::Status& status) {
  if (!absl::IsAborted(status)) {
    return false;
  }
  const auto detail = contract::FindDetail(status);
  return !detail.has_value() || detail->retryable();
}

}  // namespace croft::control::domain
