#include "control/domain/write.h"

#include "control/domain/failures.h"
#include "control/domain/resource_message.h"
#include "proto/base/error.h"

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
  Written written{.answer = MessagePtr(request.prototype.New()), .counts = {}};
  if (!written.answer->ParseFromString((*known)->answer)) {
    return Error(absl::StatusCode::kDataLoss, "the kept answer to request {} can't be read",
                 options.request_id);
  }
  SetRevision((*known)->revision, *written.answer);
  return written;
}

absl::StatusOr<Written> Attempt(store::Store& store, const WriteRequest& request,
                                const Work& work) {
  auto answered = FindAnswer(store, request);
  if (!answered.ok() || answered->answer != nullptr) {
    return answered;
  }
  const auto transaction = store.Begin();
  if (!transaction.ok()) {
    return transaction.status();
  }
  auto written = work(**transaction);
  if (!written.ok() || request.options.validate_only || !ChangesAnything(written->counts)) {
    return written;
  }
  store::ChangeInfo info;
  info.who = request.caller.who;
  info.reason = request.options.reason;
  if (!request.options.request_id.empty()) {
    info.request_id = request.options.request_id;
    info.request_fingerprint = request.options.request_fingerprint;
    info.answer = written->answer->SerializeAsString();
  }
  const auto committed = (*transaction)->Commit(info);
  if (!committed.ok()) {
    return committed.status();
  }
  SetRevision(committed->revision, *written->answer);
  return written;
}

}  // namespace

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
  absl::StatusOr<Written> written = Written();
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    written = Attempt(store, request, work);
    if (written.ok() || !IsConflict(written.status())) {
      break;
    }
  }
  return written;
}

}  // namespace croft::control::domain
