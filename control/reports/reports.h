// What nodes report: counters, kept in memory and shared by all who ask; events, kept in the store.
// The queries block on the store; OnReport never does. Thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <functional>

#include "control/reports/counter_book.h"
#include "control/reports/event_writer.h"
#include "control/reports/instance_names.h"
#include "control/store/store.h"
#include "croft/v1/report.pb.h"
#include "proto/base/clock.h"

namespace croft::control::reports {

// Whether whoever asks may see resources of the type that belong to the organization.
using MayRead =
    std::function<absl::StatusOr<bool>(store::ResourceType type, std::int64_t organization_uid)>;

class Reports {
 public:
  Reports(store::Store& store, const Clock& clock);

  // Takes counters and events; ignores other messages.
  void OnReport(const Reporter& node, const node::v1::NodeMessage& message);

  // What may not be seen is left out; named in the request, it is not found.
  absl::StatusOr<v1::ListCountersResponse> ListCounters(const v1::ListCountersRequest& request,
                                                        const MayRead& may_read);
  absl::StatusOr<v1::TopResponse> Top(const v1::TopRequest& request, const MayRead& may_read);
  absl::StatusOr<v1::ListEventsResponse> ListEvents(const v1::ListEventsRequest& request);

 private:
  absl::StatusOr<std::vector<v1::InstanceCounters>> Read(const v1::ListCountersRequest& request,
                                                         const MayRead& may_read);
  absl::StatusOr<std::int64_t> UidOf(store::ResourceType type, const std::string& name,
                                     const MayRead& may_read);
  absl::StatusOr<std::map<Instance, std::string>> NamesOf(const std::map<Instance, Counts>& counts,
                                                          const MayRead& may_read);

  store::Store& store_;
  InstanceNames names_;
  CounterBook book_;
  EventWriter events_;
};

}  // namespace croft::control::reports
