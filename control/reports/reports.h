// What nodes report: counters, kept in memory and shared by all who ask; events, kept in the store.
// The queries block on the store; OnReport never does. Thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <optional>
#include <vector>

#include "control/reports/counter_book.h"
#include "control/reports/event_writer.h"
#include "control/reports/instance_names.h"
#include "control/store/store.h"
#include "croft/v1/report.pb.h"
#include "proto/base/clock.h"

namespace croft::control::reports {

// Whose resources of the type whoever asks sees; nullopt: everyone's (store::ListQuery::within).
using VisibleOrganizations =
    std::function<std::optional<std::vector<std::int64_t>>(store::ResourceType type)>;
// Whether whoever asks may see resources of the type that belong to the organization.
using MayRead =
    std::function<absl::StatusOr<bool>(store::ResourceType type, std::int64_t organization_uid)>;

class Reports {
 public:
  Reports(store::Store& store, const Clock& clock, store::HistoryRetention retention = {});

  // Takes counters and events; what else a node says tells that it is there.
  void OnReport(const Reporter& node, const node::v1::NodeMessage& message);

  // What may not be seen is left out; named in the request, it is not found.
  absl::StatusOr<v1::ListCountersResponse> ListCounters(const v1::ListCountersRequest& request,
                                                        const MayRead& may_read);
  absl::StatusOr<v1::TopResponse> Top(const v1::TopRequest& request, const MayRead& may_read);
  absl::StatusOr<v1::ListEventsResponse> ListEvents(const v1::ListEventsRequest& request);
  // Without an instance: the sum over those that may be seen.
  absl::StatusOr<v1::ListCounterHistoryResponse> ListCounterHistory(
      const v1::ListCounterHistoryRequest& request, const MayRead& may_read,
      const VisibleOrganizations& visible);

  // What history_writer.h writes.
  std::vector<store::CounterStep> TakeSteps(bool all) { return book_.TakeSteps(all); }
  CounterBook& book() { return book_; }
  InstanceNames& names() { return names_; }
  std::uint64_t events_dropped() { return events_.dropped(); }

 private:
  absl::StatusOr<std::vector<v1::InstanceCounters>> Read(const v1::ListCountersRequest& request,
                                                         const MayRead& may_read);
  absl::StatusOr<std::int64_t> UidOf(store::ResourceType type, const std::string& name,
                                     const MayRead& may_read);
  absl::StatusOr<std::map<Instance, std::string>> NamesOf(const std::map<Instance, Counts>& counts,
                                                          const MayRead& may_read);
  absl::Status FindInstance(const v1::ListCounterHistoryRequest& request, InstanceType type,
                            const MayRead& may_read, store::HistoryQuery& query);
  absl::Status FindVisible(const std::vector<std::int64_t>& organizations, InstanceType type,
                           store::HistoryQuery& query);

  store::Store& store_;
  const Clock& clock_;
  const store::HistoryRetention retention_;
  InstanceNames names_;
  CounterBook book_;
  EventWriter events_;
};

}  // namespace croft::control::reports
