#include "control/operations/waits.h"

#include <pthread.h>

#include <iterator>
#include <map>
#include <utility>

#include "proto/base/error.h"

namespace croft::control::operations {
namespace {

constexpr std::chrono::milliseconds kLookEvery{100};

using Found = absl::StatusOr<std::optional<store::StoredOperation>>;

bool IsUnderWay(const Found& found) {
  return found.ok() && found->has_value() && (*found)->shown.state() < v1::Operation::SUCCEEDED;
}

}  // namespace

Waits::Waits(store::Store& store, const Clock& clock)
    : store_(store), clock_(clock), thread_([this](const std::stop_token& stop) { Run(stop); }) {}

absl::Status Waits::Add(std::int64_t uid, std::chrono::milliseconds at_most, Done done) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kWaitingMax) {
      return Error(absl::StatusCode::kResourceExhausted,
                   "{} calls wait for operations already; get the operation now and then instead",
                   kWaitingMax);
    }
    waiting_.push_back(
        {.uid = uid, .deadline = clock_.Monotonic() + at_most, .done = std::move(done)});
    look_ = true;
  }
  changed_.notify_one();
  return absl::OkStatus();
}

void Waits::Look() {
  {
    const std::lock_guard lock(mutex_);
    look_ = true;
  }
  changed_.notify_one();
}

std::vector<Waits::Waiting> Waits::AnswerDecided(std::vector<Waiting> waiting) {
  std::map<std::int64_t, Found> found;
  std::vector<Waiting> left;
  for (Waiting& one : waiting) {
    const auto at = found.contains(one.uid)
                        ? found.find(one.uid)
                        : found.emplace(one.uid, store_.FindOperation(one.uid)).first;
    const Found& operation = at->second;
    const bool is_late = clock_.Monotonic() >= one.deadline;
    if (!is_late && (!operation.ok() || IsUnderWay(operation))) {
      left.push_back(std::move(one));
    } else if (!operation.ok()) {
      one.done(operation.status());
    } else if (!operation->has_value()) {
      one.done(
          Error(absl::StatusCode::kNotFound, "operations/{} does not exist any more", one.uid));
    } else {
      one.done(**operation);
    }
  }
  return left;
}

void Waits::Run(const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "operation-waits");
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (waiting_.empty()) {
      changed_.wait(lock, stop, [this] { return !waiting_.empty(); });
    } else {
      changed_.wait_for(lock, stop, kLookEvery, [this] { return look_; });
    }
    look_ = false;
    std::vector<Waiting> waiting = std::exchange(waiting_, {});
    lock.unlock();
    waiting = AnswerDecided(std::move(waiting));
    lock.lock();
    waiting_.insert(waiting_.end(), std::make_move_iterator(waiting.begin()),
                    std::make_move_iterator(waiting.end()));
  }
}

}  // namespace croft::control::operations
