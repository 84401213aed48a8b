// Writes counter history: takes the steps that nodes' reports have filled, hands them to the store,
// and has the store make longer steps and drop old ones. What the store does not take now is kept,
// within bounds, and tried again. On a thread of its own; the test calls Step itself.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stop_token>
#include <thread>

#include "control/reports/reports.h"
#include "control/store/counter_history.h"
#include "control/store/store.h"
#include "proto/base/clock.h"

namespace croft::control::reports {

class HistoryWriter {
 public:
  HistoryWriter(store::Store& store, Reports& reports, const Clock& clock,
                store::HistoryRetention retention)
      : store_(store), reports_(reports), clock_(clock), retention_(retention) {}

  // One round; returns when to come back.
  std::chrono::milliseconds Step();
  // The current step too, as far as it got.
  void WriteAll();

 private:
  absl::Status WritePending();
  void Note(const absl::Status& status);

  store::Store& store_;
  Reports& reports_;
  const Clock& clock_;
  const store::HistoryRetention retention_;

  std::deque<store::CounterStep> pending_;
  bool failing_ = false;
};

class HistoryThread {
 public:
  // Runs until destroyed, and then writes what there is.
  explicit HistoryThread(HistoryWriter& writer);

 private:
  void Run(const std::stop_token& stop);

  HistoryWriter& writer_;
  std::mutex mutex_;  // nothing's; what the condition wants
  std::condition_variable_any stopped_;
  std::jthread thread_;  // last: it uses all above
};

}  // namespace croft::control::reports
