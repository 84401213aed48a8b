#include "control/domain/write.h"

#include "control/domain/failures.h"
#include "control/domain/resource_message.h"
#include "proto/base/error.h"

namespace croft::control::domain {
namespace {

constexpr int kAttemptsMax = 5;

// The answer given before; null when the request is new.
absl::StatusOr<MessagePtr> FindAnswer(store::Store& store, const WriteRequest& request) {
  const WriteOptions& options = request.options;
  if (options.request_id.empty() || options.validate_only) {
    return nullptr;
  }
  const auto known = store.FindRequest(request.caller.who, options.request_id);
  if (!known.ok()) {
    return known.status();
  }
  if (!known->has_value()) {
    return nullptr;
  }
  if ((*known)->fingerprint != options.request_fingerprint) {
    return RequestIdReused(options.request_id);
  }
  MessagePtr answer = NewMessage(request.type);
  if (!answer->ParseFromString((*known)->answer)) {
    return Error(absl::StatusCode::kDataLoss, "the kept answer to request {} can't be read",
                 options.request_id);
  }
  SetRevision((*known)->revision, *answer);
  return answer;
}

absl::StatusOr<MessagePtr> Attempt(
    store::Store& store, const WriteRequest& request,
    const std::function<absl::StatusOr<Outcome>(store::Transaction&)>& work) {
  auto answered = FindAnswer(store, request);
  if (!answered.ok() || *answered != nullptr) {
    return answered;
  }
  const auto transaction = store.Begin();
  if (!transaction.ok()) {
    return transaction.status();
  }
  auto outcome = work(**transaction);
  if (!outcome.ok()) {
    return outcome.status();
  }
  if (request.options.validate_only || !outcome->changed) {
    return std::move(outcome->answer);
  }
  store::ChangeInfo info;
  info.who = request.caller.who;
  info.reason = request.options.reason;
  if (!request.options.request_id.empty()) {
    info.request_id = request.options.request_id;
    info.request_fingerprint = request.options.request_fingerprint;
    info.answer = outcome->answer->SerializeAsString();
  }
  const auto committed = (*transaction)->Commit(info);
  if (!committed.ok()) {
    return committed.status();
  }
  SetRevision(committed->revision, *outcome->answer);
  return std::move(outcome->answer);
}

}  // namespace

absl::StatusOr<MessagePtr> Write(
    store::Store& store, const WriteRequest& request,
    const std::function<absl::StatusOr<Outcome>(store::Transaction&)>& work) {
  absl::StatusOr<MessagePtr> answer = nullptr;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    answer = Attempt(store, request, work);
    if (answer.ok() || !IsConflict(answer.status())) {
      break;
    }
  }
  return answer;
}

}  // namespace croft::control::domain
