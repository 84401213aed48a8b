// The parts of FakeStore and FakeTransaction that are operations; and attempts within a
// transaction.
#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>

#include "control/store/conflicts.h"
#include "control/store/row_type.h"
#include "tests/unit/control/store/fake_store.h"
#include "tests/unit/control/store/fake_transaction.h"

namespace croft::control::store {
namespace {

using google::protobuf::util::TimeUtil;

constexpr std::chrono::hours kKept{24 * 30};

google::protobuf::Timestamp ToTimestamp(std::chrono::system_clock::time_point time) {
  return TimeUtil::MillisecondsToTimestamp(UnixMillis(time));
}

bool IsUnderWay(const StoredOperation& operation) {
  return operation.shown.state() < v1::Operation::SUCCEEDED;
}

// With what PostgreSQL joins and has in columns.
StoredOperation Read(const FakeStore::State& state, StoredOperation operation) {
  v1::Operation& shown = operation.shown;
  shown.set_uid(operation.uid);
  shown.set_name(fmt::format("operations/{}", operation.uid));
  shown.set_cancel_asked(!operation.cancelled_by.empty());
  const auto owner =
      state.rows.find({TypeNumber(ResourceType::kOrganization), operation.organization_uid});
  shown.set_organization(owner == state.rows.end() ? "" : owner->second.name);
  for (const auto& [key, row] : state.rows) {
    if (operation.change_id != 0 && row.change_id == operation.change_id) {
      shown.set_revision(row.revision);
    }
  }
  return operation;
}

}  // namespace

absl::Status FakeTransaction::Try(const std::function<absl::Status()>& work) {
  const auto copy = copy_;
  const auto steps = steps_.size();
  const auto touched = touched_;
  const auto log = log_;
  absl::Status status = work();
  if (!status.ok()) {
    copy_ = copy;
    steps_.resize(steps);
    touched_ = touched;
    log_ = log;
  }
  return status;
}

absl::Status FakeTransaction::InsertOperation(const StoredOperation& operation) {
  StoredOperation row = operation;
  *row.shown.mutable_create_time() = ToTimestamp(time_);
  *row.shown.mutable_update_time() = ToTimestamp(time_);
  return Do([row](State& state) {
    state.operations[row.uid] = row;
    return absl::OkStatus();
  });
}

absl::Status FakeTransaction::SaveOperation(const StoredOperation& operation) {
  StoredOperation row = operation;
  *row.shown.mutable_update_time() = ToTimestamp(time_);
  return Do([row](State& state) {
    const auto found = state.operations.find(row.uid);
    if (found == state.operations.end() || !IsUnderWay(found->second)) {
      return Conflict(row.shown.name());
    }
    const std::string cancelled_by = found->second.cancelled_by;
    found->second = row;
    found->second.cancelled_by = cancelled_by;
    return absl::OkStatus();
  });
}

absl::Status FakeTransaction::AskToCancel(std::int64_t uid, std::string_view by) {
  return Do([uid, by = std::string(by)](State& state) {
    const auto found = state.operations.find(uid);
    if (found != state.operations.end() && IsUnderWay(found->second) &&
        found->second.cancelled_by.empty()) {
      found->second.cancelled_by = by;
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::optional<StoredOperation>> FakeStore::FindOperation(std::int64_t uid) {
  const auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  const auto found = (*state)->operations.find(uid);
  return found == (*state)->operations.end() ? std::nullopt
                                             : std::optional(Read(**state, found->second));
}

absl::StatusOr<std::vector<StoredOperation>> FakeStore::ListOperations(
    const OperationQuery& query) {
  const auto state = Current();
  if (!state.ok()) {
    return state.status();
  }
  std::vector<StoredOperation> listed;
  const auto& all = (*state)->operations;
  for (auto at = all.rbegin(); at != all.rend() && std::ssize(listed) < query.limit; ++at) {
    const StoredOperation& operation = at->second;
    StoredResource place;
    place.type = ResourceType::kSite;
    place.organization_uid = operation.organization_uid;
    const bool visible = !query.within.has_value() ||
                         operation.operator_uid == query.operator_uid ||
                         IsWithin(**state, place, *query.within);
    if (visible && (query.before_uid == 0 || operation.uid < query.before_uid) &&
        (!query.running || IsUnderWay(operation))) {
      listed.push_back(Read(**state, operation));
    }
  }
  return listed;
}

absl::StatusOr<std::optional<StoredOperation>> FakeStore::ClaimOperation() {
  const auto current = Current();
  if (!current.ok()) {
    return current.status();
  }
  const std::lock_guard lock(mutex_);
  auto state = std::make_shared<State>(*state_);
  StoredOperation* longest = nullptr;
  for (auto& [uid, operation] : state->operations) {
    if (IsUnderWay(operation) &&
        (longest == nullptr || operation.shown.update_time() < longest->shown.update_time())) {
      longest = &operation;
    }
  }
  if (longest == nullptr) {
    return std::nullopt;
  }
  longest->shown.set_state(v1::Operation::RUNNING);
  longest->instance = 1;
  StoredOperation claimed = Read(*state, *longest);
  state_ = std::move(state);
  return claimed;
}

void FakeStore::PurgeOperations() {
  const std::lock_guard lock(mutex_);
  auto state = std::make_shared<State>(*state_);
  std::erase_if(state->operations, [&](const auto& entry) {
    return !IsUnderWay(entry.second) &&
           entry.second.shown.update_time() < ToTimestamp(Now() - kKept);
  });
  state_ = std::move(state);
}

}  // namespace croft::control::store
