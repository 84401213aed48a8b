#include "control/api/custom_methods.h"

#include <algorithm>
#include <charconv>

#include "control/api/explain_url.h"
#include "croft/v1/change.pb.h"
#include "croft/v1/report.pb.h"
#include "croft/v1/site.pb.h"
#include "proto/base/error.h"

namespace croft::control::api {
namespace {

constexpr int kPageDefault = 100;
constexpr int kPageMax = 1000;
constexpr std::int64_t kWaitDefaultMs = 30'000;
constexpr std::int64_t kWaitMostMs = 3'600'000;

// Newest first; the token is the last revision shown.
absl::StatusOr<v1::ListChangesResponse> ListChanges(store::Store& store,
                                                    const v1::ListChangesRequest& request) {
  const std::string& token = request.page_token();
  std::int64_t before = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), before);
  if (!token.empty() &&
      (error != std::errc() || end != token.data() + token.size() || before <= 0)) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "page_token is not one that control gave; leave it empty to begin again");
  }
  const int size =
      request.page_size() <= 0 ? kPageDefault : std::min(request.page_size(), kPageMax);
  const auto changes = store.ListChanges(before, size, request.resource());
  if (!changes.ok()) {
    return changes.status();
  }
  v1::ListChangesResponse response;
  for (const v1::Change& change : *changes) {
    *response.add_changes() = change;
  }
  if (response.changes_size() == size) {
    response.set_next_page_token(std::to_string(response.changes(size - 1).revision()));
  }
  return response;
}

// 0 for "farms/-".
absl::StatusOr<std::int64_t> FindFarm(store::Store& store, const std::string& name) {
  if (name == "farms/-") {
    return 0;
  }
  const auto parsed = contract::ParseResourceName(name, contract::ResourceType::kFarm);
  if (!parsed.ok()) {
    return parsed.status();
  }
  const auto found = store.Find(contract::FormatResourceName(*parsed));
  if (!found.ok()) {
    return found.status();
  }
  if (!found->has_value()) {
    return Error(absl::StatusCode::kNotFound, "{} does not exist", name);
  }
  return (*found)->uid;
}

void Wait(store::Store& store, feed::Feed& feed, v1::WaitForRevisionRequest request,
          const Answer& answer) {
  const auto farm_uid = FindFarm(store, request.farm());
  if (!farm_uid.ok()) {
    answer(farm_uid.status());
    return;
  }
  const std::int64_t asked = request.timeout_ms() <= 0 ? kWaitDefaultMs : request.timeout_ms();
  request.set_timeout_ms(std::min(asked, kWaitMostMs));
  feed.Wait(request, *farm_uid, [answer](v1::WaitForRevisionResponse response) {
    answer(
        CallResult{.message = std::make_unique<v1::WaitForRevisionResponse>(std::move(response))});
  });
}

}  // namespace

void AddSiteMethods(store::Store& store, Methods& methods) {
  methods.AddCustom<v1::ExplainUrlRequest>(
      "croft.v1.SiteService.ExplainUrl", Access::kOperator,
      [&store](const domain::Caller&, const v1::ExplainUrlRequest& request) {
        return ExplainUrl(store, request);
      });
}

void AddChangeMethods(store::Store& store, feed::Feed& feed, Methods& methods) {
  methods.AddCustom<v1::ListChangesRequest>(
      "croft.v1.ChangeService.ListChanges", Access::kOperator,
      [&store](const domain::Caller&, const v1::ListChangesRequest& request) {
        return ListChanges(store, request);
      });
  methods.Add(
      {.descriptor = GetMethod("croft.v1.ChangeService.WaitForRevision"),
       .access = Access::kOperator,
       .handler = [&store, &feed](const domain::Caller&, const google::protobuf::Message& request,
                                  const Answer& answer) {
         Wait(store, feed, static_cast<const v1::WaitForRevisionRequest&>(request), answer);
       }});
}

void AddReportMethods(reports::Reports& reports, Methods& methods) {
  methods.AddCustom<v1::ListCountersRequest>(
      "croft.v1.ReportService.ListCounters", Access::kOperator,
      [&reports](const domain::Caller&, const v1::ListCountersRequest& request) {
        return reports.ListCounters(request);
      });
  methods.AddCustom<v1::TopRequest>(
      "croft.v1.ReportService.Top", Access::kOperator,
      [&reports](const domain::Caller&, const v1::TopRequest& request) {
        return reports.Top(request);
      });
  methods.AddCustom<v1::ListEventsRequest>(
      "croft.v1.ReportService.ListEvents", Access::kOperator,
      [&reports](const domain::Caller&, const v1::ListEventsRequest& request) {
        return reports.ListEvents(request);
      });
}

}  // namespace croft::control::api
