#include "control/reports/history_writer.h"

#include <pthread.h>

#include <string>
#include <utility>

#include "proto/base/log.h"

namespace croft::control::reports {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kStep{1000 * store::kHistorySteps[0]};
// After a step's end, for reports that were on their way.
constexpr milliseconds kAfterStep{500};
constexpr milliseconds kMoreToDo{200};
constexpr milliseconds kRetry{2000};

}  // namespace

absl::Status HistoryWriter::WritePending() {
  while (!pending_.empty()) {
    absl::Status status = store_.WriteCounters(pending_.front());
    if (!status.ok()) {
      return status;
    }
    pending_.pop_front();
  }
  return absl::OkStatus();
}

void HistoryWriter::Note(const absl::Status& status) {
  if (!status.ok() && !failing_) {
    log::Error("history", "counter history is not written; it is kept for some minutes",
               {{"err", std::string(status.message())}});
  }
  failing_ = !status.ok();
}

milliseconds HistoryWriter::Step() {
  const std::int64_t now_ms = UnixMillis(clock_.Now());
  if (pending_.empty()) {  // otherwise the book keeps the rest within its bounds
    for (store::CounterStep& step : reports_.TakeSteps(/*all=*/false)) {
      pending_.push_back(std::move(step));
    }
  }
  absl::Status status = WritePending();
  bool more = false;
  if (status.ok()) {
    const auto tended = store_.TendCounterHistory(now_ms / 1000, retention_);
    status = tended.status();
    more = tended.ok() && *tended;
  }
  Note(status);
  if (!status.ok()) {
    return kRetry;
  }
  return more ? kMoreToDo : kStep - milliseconds(now_ms % kStep.count()) + kAfterStep;
}

void HistoryWriter::WriteAll() {
  Note(WritePending());
  for (store::CounterStep& step : reports_.TakeSteps(/*all=*/true)) {
    pending_.push_back(std::move(step));
  }
  if (!failing_) {
    Note(WritePending());
  }
}

HistoryThread::HistoryThread(HistoryWriter& writer)
    : writer_(writer), thread_([this](const std::stop_token& stop) { Run(stop); }) {}

void HistoryThread::Run(const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "history");
  while (!stop.stop_requested()) {
    const milliseconds pause = writer_.Step();
    std::unique_lock lock(mutex_);
    stopped_.wait_for(lock, stop, pause, [] { return false; });
  }
  writer_.WriteAll();
}

}  // namespace croft::control::reports
