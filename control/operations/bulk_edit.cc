#include "control/operations/bulk_edit.h"

#include <algorithm>
#include <optional>

#include "control/domain/failures.h"
#include "control/domain/resource_message.h"
#include "control/domain/steps.h"
#include "proto/base/error.h"
#include "proto/contract/any_resource.h"
#include "proto/contract/errors.h"
#include "proto/contract/field_path.h"

namespace croft::control::operations {
namespace {

using domain::InvalidField;
using google::protobuf::Message;
using store::StoredOperation;
using store::StoredResource;

constexpr std::size_t kReasonBytesMax = 500;

std::optional<contract::ResourceType> FindType(std::string_view noun) {
  for (const contract::ResourceTypeFacts& facts : contract::AllResourceTypes()) {
    if (facts.noun == noun) {
      return facts.type;
    }
  }
  return std::nullopt;
}

absl::Status UnknownType(std::string_view noun) {
  std::string nouns;
  for (const contract::ResourceTypeFacts& facts : contract::AllResourceTypes()) {
    nouns += fmt::format("{}{}", nouns.empty() ? "" : ", ", facts.noun);
  }
  return InvalidField("type", noun, fmt::format("has to be one of {}", nouns));
}

void AddError(const std::string& name, const absl::Status& status, v1::Operation& shown) {
  shown.set_failed(shown.failed() + 1);
  if (shown.errors_size() >= kErrorsKept) {
    return;
  }
  v1::OperationError& error = *shown.add_errors();
  error.set_name(name);
  std::string reason(contract::MessageOf(status).substr(0, kReasonBytesMax));
  // Not in the middle of a character.
  while (reason.size() == kReasonBytesMax && (reason.back() & 0x80) != 0) {
    const bool is_first_byte = (reason.back() & 0x40) != 0;
    reason.pop_back();
    if (is_first_byte) {
      break;
    }
  }
  error.set_reason(std::move(reason));
}

}  // namespace

bool MayPass(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kCancelled:
      return true;
    default:
      return domain::IsConflict(status);
  }
}

absl::Status CheckRequest(bool deletes, v1::UpdateResourcesRequest& request) {
  const auto type = FindType(request.type());
  if (!type.has_value()) {
    return UnknownType(request.type());
  }
  if (request.expect_count() < 0) {
    return InvalidField("expect_count", std::to_string(request.expect_count()),
                        "has to be the number of resources that the filter selects");
  }
  if (deletes) {
    return absl::OkStatus();
  }
  Message* resource = contract::Unwrap(*request.mutable_resource());
  if (resource == nullptr || contract::TypeOf(*resource) != *type) {
    return InvalidField("resource", resource == nullptr ? "" : resource->GetDescriptor()->name(),
                        fmt::format("has to be a {} with the fields to set", request.type()));
  }
  domain::SetText(*resource, "name", "");
  domain::SetText(*resource, "etag", "");
  if (request.update_mask().paths().empty()) {
    *request.mutable_update_mask() = domain::MaskOfSetFields(*resource);
  }
  if (request.update_mask().paths().empty()) {
    return InvalidField("update_mask", "",
                        "has to name the fields to set, or the resource to set some");
  }
  return contract::ApplyMask(request.update_mask(), *resource, *domain::NewMessage(*type));
}

absl::StatusOr<BulkEdit> BulkEdit::Open(store::Store& store, domain::Access& access,
                                        const domain::Caller& caller,
                                        const StoredOperation& operation) {
  v1::UpdateResourcesRequest request;
  std::optional<contract::ResourceType> type;
  if (request.ParseFromString(operation.request)) {
    type = FindType(request.type());
  }
  if (!type.has_value()) {
    return Error(absl::StatusCode::kDataLoss, "what {} was asked to do can't be read",
                 operation.shown.name());
  }
  auto selection = domain::Selection::Open(
      store, access, caller,
      {.type = *type, .parent = request.parent(), .filter = request.filter()});
  if (!selection.ok()) {
    return selection.status();
  }
  BulkEdit edit(store, access, caller, *std::move(selection));
  edit.request_ = std::move(request);
  edit.type_ = *type;
  edit.deletes_ = operation.deletes;
  return edit;
}

absl::Status BulkEdit::CheckCount(const StoredOperation& operation) const {
  const std::int64_t found = operation.shown.total();
  const std::int64_t expected = request_.expect_count();
  const std::string_view things = contract::Facts(type_).collection;
  const char* const about = operation.counting ? "at least " : "";
  if (expected == 0 && found > kCountRequiredAbove) {
    return domain::CountRequired(
        fmt::format("the filter selects {}{} {}; above {} expect_count has to say how "
                    "many they are (--expect-count)",
                    about, found, things, kCountRequiredAbove));
  }
  if (expected != 0 && (found > expected || (found != expected && !operation.counting))) {
    return domain::CountMismatch(
        fmt::format("the filter selects {}{} {}, not {}; list them, and if they are "
                    "the right ones, expect {} (--expect-count)",
                    about, found, things, expected, found));
  }
  return absl::OkStatus();
}

absl::Status BulkEdit::Count(int examined_max, StoredOperation& operation) {
  std::int64_t count = operation.shown.total();
  domain::SelectionCursor cursor{.name = operation.after_name, .uid = operation.after_uid};
  const auto more = selection_.Walk(examined_max, cursor, [&](const StoredResource& row) {
    count += operation.uid == 0 || row.uid < operation.uid ? 1 : 0;
    return true;
  });
  if (!more.ok()) {
    return more.status();
  }
  operation.shown.set_total(count);
  operation.counting = *more;
  operation.after_name = *more ? cursor.name : "";
  operation.after_uid = *more ? cursor.uid : 0;
  return CheckCount(operation);
}

// What was made after the operation has a greater uid, and is none of its items.
absl::StatusOr<Batch> BulkEdit::Read(StoredOperation& operation) {
  Batch batch;
  const std::int64_t left = operation.shown.total() - operation.shown.done();
  domain::SelectionCursor cursor{.name = operation.after_name, .uid = operation.after_uid};
  const auto more = selection_.Walk(kExaminedMax, cursor, [&](StoredResource& row) {
    if (operation.uid != 0 && row.uid >= operation.uid) {
      return true;
    }
    if (std::ssize(batch.rows) >= left) {
      batch.beyond = true;
      return false;
    }
    batch.rows.push_back(std::move(row));
    return std::ssize(batch.rows) < kBatchItems;
  });
  if (!more.ok()) {
    return more.status();
  }
  batch.more = *more && !batch.beyond;
  operation.after_name = cursor.name;
  operation.after_uid = cursor.uid;
  return batch;
}

absl::Status BulkEdit::Edit(store::Transaction& transaction, const StoredResource& row,
                            Outcome& outcome) {
  const domain::WriteOptions options{.field_manager = request_.field_manager(),
                                     .force = request_.force()};
  const domain::RuleContext context{store_, transaction, caller_, access_, options};
  const std::string etag = domain::FormatEtag(row.change_id);
  absl::StatusOr<domain::Written> written;
  if (deletes_) {
    written = domain::DeleteIn(context, row.name, etag);
  } else {
    const domain::MessagePtr input = domain::Copy(*contract::Unwrap(request_.resource()));
    domain::SetText(*input, "name", row.name);
    domain::SetText(*input, "etag", etag);
    written = domain::UpdateIn(context, *input, request_.update_mask());
  }
  if (!written.ok()) {
    return written.status();
  }
  outcome = written->counts.updated() + written->counts.deleted() > 0 ? Outcome::kChanged
                                                                      : Outcome::kUnchanged;
  return absl::OkStatus();
}

// A row that somebody changed since it was listed is looked at again, locked by now: it may be gone
// or no longer selected.
absl::StatusOr<BulkEdit::Outcome> BulkEdit::ApplyTo(store::Transaction& transaction,
                                                    const StoredResource& row) {
  Outcome outcome = Outcome::kPassed;
  const auto edit = [&](const StoredResource& one) {
    return transaction.Try([&] { return Edit(transaction, one, outcome); });
  };
  absl::Status status = edit(row);
  const bool was_changed =
      absl::IsNotFound(status) || (absl::IsAborted(status) && !domain::IsConflict(status));
  if (!was_changed) {
    return status.ok() ? absl::StatusOr<Outcome>(outcome) : status;
  }
  const auto now = transaction.FindForUpdate(row.name);
  if (!now.ok()) {
    return now.status();
  }
  if (!now->has_value() || (*now)->uid != row.uid) {
    return Outcome::kPassed;
  }
  const auto matches = selection_.Matches(**now);
  if (!matches.ok()) {
    return matches.status();
  }
  if (!*matches) {
    return Outcome::kPassed;
  }
  status = edit(**now);
  return status.ok() ? absl::StatusOr<Outcome>(outcome) : status;
}

absl::StatusOr<bool> BulkEdit::Apply(store::Transaction& transaction, const Batch& batch,
                                     StoredOperation& operation) {
  bool changed = false;
  for (const StoredResource& row : batch.rows) {
    const auto outcome = ApplyTo(transaction, row);
    if (!outcome.ok() && MayPass(outcome.status())) {
      return outcome.status();
    }
    if (!outcome.ok()) {
      AddError(row.name, access_.HideHolder(caller_, outcome.status()), operation.shown);
    } else if (*outcome == Outcome::kPassed) {
      continue;
    }
    changed = changed || (outcome.ok() && *outcome == Outcome::kChanged);
    operation.shown.set_done(operation.shown.done() + 1);
  }
  return changed;
}

}  // namespace croft::control::operations
