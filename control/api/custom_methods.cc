#include "control/api/custom_methods.h"

#include <algorithm>
#include <charconv>

#include "control/api/explain_url.h"
#include "control/api/visibility.h"
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
// What a change did to what the caller may not see is left out, and the changes of which nothing is
// left; so a page may be short.
absl::Status AddVisible(const v1::Change& change, Visibility& visibility,
                        v1::ListChangesResponse& response) {
  v1::Change shown = change;
  shown.clear_resources();
  for (const v1::ChangedResource& resource : change.resources()) {
    const auto may = visibility.MayRead(resource.name());
    if (!may.ok()) {
      return may.status();
    }
    if (*may) {
      *shown.add_resources() = resource;
    }
  }
  if (visibility.all() || !shown.resources().empty()) {
    response.add_changes()->Swap(&shown);
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::ListChangesResponse> ListChanges(store::Store& store, Visibility visibility,
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
  if (!request.resource().empty()) {
    if (absl::Status status = visibility.Check(request.resource()); !status.ok()) {
      return status;
    }
  }
  const auto changes = store.ListChanges(before, size, request.resource());
  if (!changes.ok()) {
    return changes.status();
  }
  v1::ListChangesResponse response;
  for (const v1::Change& change : *changes) {
    if (absl::Status status = AddVisible(change, visibility, response); !status.ok()) {
      return status;
    }
  }
  if (std::ssize(*changes) == size) {
    response.set_next_page_token(std::to_string(changes->back().revision()));
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

// A restricted caller learns whether its change is there, not which nodes there are.
void Wait(store::Store& store, feed::Feed& feed, bool sees_nodes,
          v1::WaitForRevisionRequest request, const Answer& answer) {
  const auto farm_uid = FindFarm(store, request.farm());
  if (!farm_uid.ok()) {
    answer(farm_uid.status());
    return;
  }
  const std::int64_t asked = request.timeout_ms() <= 0 ? kWaitDefaultMs : request.timeout_ms();
  request.set_timeout_ms(std::min(asked, kWaitMostMs));
  feed.Wait(request, *farm_uid, [answer, sees_nodes](v1::WaitForRevisionResponse response) {
    if (!sees_nodes) {
      response.clear_nodes();
    }
    answer(
        CallResult{.message = std::make_unique<v1::WaitForRevisionResponse>(std::move(response))});
  });
}

// Events that name nothing the caller may see are left out; so a page may be short.
absl::StatusOr<v1::ListEventsResponse> ListEvents(reports::Reports& reports, Visibility visibility,
                                                  const v1::ListEventsRequest& request) {
  const auto named = contract::ParseResourceName(request.resource());
  if (named.ok() && named->type != contract::ResourceType::kFarm) {
    if (absl::Status status = visibility.Check(request.resource()); !status.ok()) {
      return status;
    }
  }
  auto response = reports.ListEvents(request);
  if (!response.ok() || visibility.all()) {
    return response;
  }
  google::protobuf::RepeatedPtrField<v1::Event> events;
  events.Swap(response->mutable_events());
  for (v1::Event& event : events) {
    const bool of_node = event.site().empty() && event.pool().empty();
    const auto may = visibility.MayRead(of_node                ? event.node()
                                        : event.site().empty() ? event.pool()
                                                               : event.site());
    if (!may.ok()) {
      return may.status();
    }
    if (*may) {
      response->add_events()->Swap(&event);
    }
  }
  return response;
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

void AddChangeMethods(store::Store& store, domain::Access& access, feed::Feed& feed,
                      Methods& methods) {
  methods.AddCustom<v1::ListChangesRequest>(
      "croft.v1.ChangeService.ListChanges", Access::kOperator,
      [&store, &access](const domain::Caller& caller, const v1::ListChangesRequest& request) {
        return ListChanges(store, Visibility(store, access, caller), request);
      });
  methods.Add(
      {.descriptor = GetMethod("croft.v1.ChangeService.WaitForRevision"),
       .access = Access::kOperator,
       .handler = [&store, &feed](const domain::Caller& caller,
                                  const google::protobuf::Message& request, const Answer& answer) {
         Wait(store, feed,
              domain::Access::MayReadInfrastructure(caller, contract::ResourceType::kNode),
              static_cast<const v1::WaitForRevisionRequest&>(request), answer);
       }});
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
}

}  // namespace croft::control::api
