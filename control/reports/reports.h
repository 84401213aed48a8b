// What nodes report: counters, kept in memory and shared by all who ask; events, kept in the store.
// The queries block on the store; OnReport never does. Thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include "control/reports/counter_book.h"
#include "control/reports/event_writer.h"
#include "control/reports/instance_names.h"
#include "control/store/store.h"
#include "croft/v1/report.pb.h"
#include "proto/base/clock.h"

namespace croft::control::reports {

class Reports {
 public:
  Reports(store::Store& store, const Clock& clock);

  // Takes counters and events; ignores other messages.
  void OnReport(const Reporter& node, const node::v1::NodeMessage& message);

  absl::StatusOr<v1::ListCountersResponse> ListCounters(const v1::ListCountersRequest& request);
  absl::StatusOr<v1::TopResponse> Top(const v1::TopRequest& request);
  absl::StatusOr<v1::ListEventsResponse> ListEvents(const v1::ListEventsRequest& request);

 private:
  absl::StatusOr<std::vector<v1::InstanceCounters>> Read(const v1::ListCountersRequest& request);
  absl::StatusOr<std::int64_t> UidOf(store::ResourceType type, const std::string& name);
  absl::StatusOr<std::map<Instance, std::string>> NamesOf(const std::map<Instance, Counts>& counts);

  store::Store& store_;
  InstanceNames names_;
  CounterBook book_;
  EventWriter events_;
};

}  // namespace croft::control::reports
