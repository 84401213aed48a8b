#include "control/api/custom_methods.h"

#include "control/api/event_stream.h"
#include "control/api/explain_url.h"
#include "control/api/visibility.h"
#include "croft/v1/report.pb.h"
#include "croft/v1/site.pb.h"
#include "proto/base/error.h"

namespace croft::control::api {
namespace {

// Events that name nothing the caller may see are left out; so a page may be short.
absl::StatusOr<v1::ListEventsResponse> ListEvents(reports::Reports& reports, Visibility visibility,
                                                  const v1::ListEventsRequest& request) {
  if (absl::Status status = CheckEventsOf(visibility, request.resource()); !status.ok()) {
    return status;
  }
  auto response = reports.ListEvents(request);
  if (!response.ok()) {
    return response;
  }
  const absl::Status status = LeaveVisible(visibility, *response->mutable_events());
  return status.ok() ? std::move(response) : status;
}

reports::MayRead MakeMayRead(domain::Access& access, const domain::Caller& caller) {
  return [&access, &caller](store::ResourceType type, std::int64_t organization_uid) {
    return access.MayReadIn(caller, type, organization_uid);
  };
}

}  // namespace

void AddSiteMethods(store::Store& store, domain::Access& access, Methods& methods) {
  methods.AddCustom<v1::ExplainUrlRequest>(
      "croft.v1.SiteService.ExplainUrl", Access::kOperator,
      [&store, &access](const domain::Caller& caller, const v1::ExplainUrlRequest& request) {
        return ExplainUrl(store, {access, caller}, request);
      });
}

void AddReportMethods(store::Store& store, domain::Access& access, reports::Reports& reports,
                      Methods& methods) {
  methods.AddCustom<v1::ListCountersRequest>(
      "croft.v1.ReportService.ListCounters", Access::kOperator,
      [&reports, &access](const domain::Caller& caller, const v1::ListCountersRequest& request) {
        return reports.ListCounters(request, MakeMayRead(access, caller));
      });
  methods.AddCustom<v1::TopRequest>(
      "croft.v1.ReportService.Top", Access::kOperator,
      [&reports, &access](const domain::Caller& caller, const v1::TopRequest& request) {
        return reports.Top(request, MakeMayRead(access, caller));
      });
  methods.AddCustom<v1::ListEventsRequest>(
      "croft.v1.ReportService.ListEvents", Access::kOperator,
      [&store, &reports, &access](const domain::Caller& caller,
                                  const v1::ListEventsRequest& request) {
        return ListEvents(reports, Visibility(store, access, caller), request);
      });
  methods.AddCustom<v1::ListCounterHistoryRequest>(
      "croft.v1.ReportService.ListCounterHistory", Access::kOperator,
      [&reports, &access](const domain::Caller& caller,
                          const v1::ListCounterHistoryRequest& request) {
        return reports.ListCounterHistory(
            request, MakeMayRead(access, caller), [&caller](store::ResourceType type) {
              return domain::Access::VisibleOrganizations(caller, type);
            });
      });
}

}  // namespace croft::control::api
