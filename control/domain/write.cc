#include "control/domain/write.h"

#include "control/domain/failures.h"
#include "control/domain/resource_message.h"
#include "proto/base/error.h"
#include "proto/contract/errors.h"
#include "proto/contract/text_rules.h"

namespace croft::control::domain {
namespace {

using Work = std::function<absl::StatusOr<Written>(store::Transaction&)>;

constexpr int kAttemptsMax = 5;

bool ChangesAnything(const v1::Counts& counts) {
  return counts.created() + counts.updated() + counts.deleted() > 0;
}

// The answer given before; without a message when the request is new.
absl::StatusOr<Written> FindAnswer(store::Store& store, const WriteRequest& request) {
  const WriteOptions& options = request.options;
  if (options.request_id.empty() || options.validate_only) {
    return Written();
  }
  const auto known = store.FindRequest(request.caller.who, options.request_id);
  if (!known.ok()) {
    return known.status();
  }
  if (!known->has_value()) {
    return Written();
  }
  if ((*known)->fingerprint != options.request_fingerprint) {
    return RequestIdReused(options.request_id);
  }
  Written written{
      .answer = MessagePtr(request.prototype.New()), .counts = (*known)->counts, .repeated = true};
  if (!written.answer->ParseFromString((*known)->answer)) {
    return Error(absl::StatusCode::kDataLoss, "the kept answer to request {} can't be read",
                 options.request_id);
  }
  if ((*known)->revision != 0) {
    SetRevision((*known)->revision, *written.answer);
  }
  return written;
}

store::ChangeInfo MakeChangeInfo(const WriteRequest& request, const Written& written) {
  store::ChangeInfo info;
  info.who = request.caller.who;
  info.reason = request.options.reason;
  if (!request.options.request_id.empty()) {
    info.request_id = request.options.request_id;
    info.request_fingerprint = request.options.request_fingerprint;
    info.answer = written.answer->SerializeAsString();
    info.counts = written.counts;
  }
  return info;
}

absl::StatusOr<Written> Attempt(store::Store& store, const WriteRequest& request,
                                const Work& work) {
  const auto transaction = store.Begin();
  if (!transaction.ok()) {
    return transaction.status();
  }
  auto written = work(**transaction);
  if (!written.ok() || request.options.validate_only) {
    return written;
  }
  const store::ChangeInfo info = MakeChangeInfo(request, *written);
  if (!ChangesAnything(written->counts)) {
    const absl::Status kept = info.request_id.empty() && !written->keeps
                                  ? absl::OkStatus()
                                  : (*transaction)->CommitAnswer(info);
    return kept.ok() ? std::move(written) : kept;
  }
  const auto committed = (*transaction)->Commit(info);
  if (!committed.ok()) {
    return committed.status();
  }
  SetRevision(committed->revision, *written->answer);
  return written;
}

}  // namespace

absl::Status CheckOptions(const WriteOptions& options) {
  constexpr std::size_t kRequestIdBytesMax = 128;
  constexpr std::size_t kReasonBytesMax = 1000;
  constexpr std::size_t kManagerBytesMax = 64;
  std::vector<v1::FieldViolation> violations;
  if (options.request_id.size() > kRequestIdBytesMax || contract::HasControl(options.request_id)) {
    violations.push_back(MakeViolation(
        "request_id", options.request_id,
        fmt::format("is at most {} bytes without control characters", kRequestIdBytesMax)));
  }
  if (options.reason.size() > kReasonBytesMax || contract::HasControl(options.reason)) {
    violations.push_back(MakeViolation(
        "reason", options.reason,
        fmt::format("is at most {} bytes without control characters", kReasonBytesMax)));
  }
  if (options.field_manager.size() > kManagerBytesMax ||
      contract::HasControl(options.field_manager)) {
    violations.push_back(MakeViolation(
        "field_manager", options.field_manager,
        fmt::format("is at most {} bytes without control characters", kManagerBytesMax)));
  }
  return contract::InvalidFields(violations);
}

v1::Counts CountCreated() {
  v1::Counts counts;
  counts.set_created(1);
  return counts;
}

v1::Counts CountUpdated() {
  v1::Counts counts;
  counts.set_updated(1);
  return counts;
}

v1::Counts CountUnchanged() {
  v1::Counts counts;
  counts.set_unchanged(1);
  return counts;
}

v1::Counts CountDeleted() {
  v1::Counts counts;
  counts.set_deleted(1);
  return counts;
}

absl::StatusOr<Written> Write(store::Store& store, const WriteRequest& request, const Work& work) {
  if (absl::Status status = CheckOptions(request.options); !status.ok()) {
    return status;
  }
  absl::StatusOr<Written> written = FindAnswer(store, request);
  if (!written.ok() || written->repeated) {
    return written;
  }
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    written = Attempt(store, request, work);
    if (written.ok()) {
      return written;
    }
    // The same request may have come first on another connection, and be the reason.
    auto answered = FindAnswer(store, request);
    if (!answered.ok() || answered->repeated) {
      return answered;
    }
    if (!IsConflict(written.status())) {
      return written;
    }
  }
  return written;
}

}  // namespace croft::control::domain
