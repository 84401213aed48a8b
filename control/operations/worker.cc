#include "control/operations/worker.h"

#include <google/protobuf/util/time_util.h>

#include <string>

#include "control/domain/token_rules.h"
#include "control/operations/bulk_edit.h"
#include "proto/base/error.h"
#include "proto/contract/errors.h"

namespace croft::control::operations {
namespace {

using store::StoredOperation;

// A batch that fails this often in a row, while the database answers, fails the operation.
constexpr int kFailuresMax = 20;

void SetEnd(std::chrono::system_clock::time_point time, v1::Operation::State state,
            std::string_view message, v1::Operation& shown) {
  shown.set_state(state);
  shown.set_message(std::string(message));
  *shown.mutable_end_time() =
      google::protobuf::util::TimeUtil::MillisecondsToTimestamp(UnixMillis(time));
}

// After the last item.
void Conclude(const Batch& batch, std::chrono::system_clock::time_point time,
              v1::Operation& shown) {
  if (batch.beyond) {
    SetEnd(time, v1::Operation::FAILED,
           fmt::format("more match by now than the {} that were counted, and that are done; start "
                       "another one for the rest",
                       shown.total()),
           shown);
  } else if (shown.failed() > 0) {
    SetEnd(time, v1::Operation::FAILED,
           fmt::format("{} of {} failed; errors has the first {}", shown.failed(), shown.done(),
                       shown.errors_size()),
           shown);
  } else {
    const std::int64_t passed = shown.total() - shown.done();
    SetEnd(time, v1::Operation::SUCCEEDED,
           passed == 0 ? ""
                       : fmt::format("{} of the {} that were counted did not match any more when "
                                     "it was their turn",
                                     passed, shown.total()),
           shown);
  }
}

// What the change says of its reason names the operation, too.
std::string ReasonOf(const v1::Operation& shown) {
  return shown.reason().empty() ? shown.name()
                                : fmt::format("{} ({})", shown.reason(), shown.name());
}

// True when it has ended.
absl::StatusOr<bool> RunBatch(store::Store& store, BulkEdit& edit, StoredOperation& operation) {
  const auto batch = edit.Read(operation);
  if (!batch.ok()) {
    return batch.status();
  }
  const auto transaction = store.Begin();
  if (!transaction.ok()) {
    return transaction.status();
  }
  const auto changed = edit.Apply(**transaction, *batch, operation);
  if (!changed.ok()) {
    return changed.status();
  }
  if (*changed) {
    operation.change_id = (*transaction)->change_id();
  }
  if (!batch->more) {
    Conclude(*batch, (*transaction)->time(), operation.shown);
  }
  absl::Status status = (*transaction)->SaveOperation(operation);
  if (status.ok()) {
    const store::ChangeInfo info{.who = operation.shown.who(), .reason = ReasonOf(operation.shown)};
    status = *changed ? (*transaction)->Commit(info).status() : (*transaction)->CommitAnswer(info);
  }
  return status.ok() ? absl::StatusOr<bool>(!batch->more) : status;
}

absl::Status Save(store::Store& store, const StoredOperation& operation) {
  const auto transaction = store.Begin();
  if (!transaction.ok()) {
    return transaction.status();
  }
  const absl::Status status = (*transaction)->SaveOperation(operation);
  return status.ok() ? (*transaction)->CommitAnswer({}) : status;
}

}  // namespace

absl::StatusOr<domain::Caller> Worker::FindRights(const StoredOperation& operation) {
  using contract::ResourceType;
  const auto token = store_.FindByUid(ResourceType::kToken, operation.token_uid);
  if (!token.ok()) {
    return token.status();
  }
  if (!token->has_value()) {
    return Error(absl::StatusCode::kUnauthenticated,
                 "the token it was started with was revoked meanwhile; what is committed stays");
  }
  if (domain::ExpiryOf(**token) <= clock_.Now()) {
    return Error(absl::StatusCode::kUnauthenticated,
                 "{}, with which it was started, has expired meanwhile; what is committed stays",
                 (*token)->name);
  }
  const auto owner = store_.FindByUid(ResourceType::kOperator, operation.operator_uid);
  if (!owner.ok()) {
    return owner.status();
  }
  if (!owner->has_value()) {
    return Error(absl::StatusCode::kUnauthenticated,
                 "operator {}, who started it, was deleted meanwhile; what is committed stays",
                 operation.shown.who());
  }
  return access_.Identify({.token_row = **token, .operator_row = **owner});
}

absl::StatusOr<Step> Worker::End(StoredOperation& operation, v1::Operation::State state,
                                 std::string_view message) {
  SetEnd(clock_.Now(), state, message, operation.shown);
  const absl::Status status = Save(store_, operation);
  return status.ok() ? absl::StatusOr<Step>(Step::kEnded) : status;
}

absl::StatusOr<Step> Worker::Continue(StoredOperation& operation) {
  const auto fail = [&](const absl::Status& status) -> absl::StatusOr<Step> {
    return MayPass(status) ? absl::StatusOr<Step>(status)
                           : End(operation, v1::Operation::FAILED, contract::MessageOf(status));
  };
  if (!operation.cancelled_by.empty()) {
    return End(operation, v1::Operation::CANCELLED, "cancelled by " + operation.cancelled_by);
  }
  const auto caller = FindRights(operation);
  if (!caller.ok()) {
    return fail(caller.status());
  }
  auto edit = BulkEdit::Open(store_, access_, *caller, operation);
  if (!edit.ok()) {
    return fail(edit.status());
  }
  if (operation.counting) {
    const absl::Status counted = edit->Count(kExaminedMax, operation);
    if (!counted.ok()) {
      return fail(counted);
    }
    const absl::Status saved = Save(store_, operation);
    return saved.ok() ? absl::StatusOr<Step>(Step::kWorked) : saved;
  }
  StoredOperation next = operation;
  const auto ended = RunBatch(store_, *edit, next);
  if (!ended.ok()) {
    return fail(ended.status());
  }
  return *ended ? Step::kEnded : Step::kWorked;
}

absl::StatusOr<Step> Worker::Run() {
  auto claimed = store_.ClaimOperation();
  if (!claimed.ok()) {
    return claimed.status();
  }
  if (!claimed->has_value()) {
    return Step::kIdle;
  }
  StoredOperation& operation = **claimed;
  const StoredOperation before = operation;
  auto step = Continue(operation);
  if (step.ok()) {
    failures_ = 0;
    return step;
  }
  failures_ = operation.uid == failing_uid_ ? failures_ + 1 : 1;
  failing_uid_ = operation.uid;
  const bool database_is_away = absl::IsUnavailable(step.status()) ||
                                absl::IsResourceExhausted(step.status()) ||
                                absl::IsUnknown(step.status());
  if (database_is_away || failures_ < kFailuresMax) {
    return step;
  }
  StoredOperation failed = before;
  return End(failed, v1::Operation::FAILED, contract::MessageOf(step.status()));
}

}  // namespace croft::control::operations
