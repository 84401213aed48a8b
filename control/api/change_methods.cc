#include "control/api/change_methods.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "control/api/standard_methods.h"
#include "control/api/visibility.h"
#include "control/domain/failures.h"
#include "control/domain/history.h"
#include "control/domain/undo.h"
#include "croft/v1/change.pb.h"
#include "proto/base/error.h"

namespace croft::control::api {
namespace {

constexpr int kPageDefault = 100;
constexpr int kPageMax = 1000;
constexpr std::int64_t kWaitDefaultMs = 30'000;
constexpr std::int64_t kWaitMostMs = 3'600'000;

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
  if (!visibility.all()) {
    shown.set_total(shown.resources_size());
  }
  if (visibility.all() || !shown.resources().empty()) {
    response.add_changes()->Swap(&shown);
  }
  return absl::OkStatus();
}

// Newest first; the token is the last revision shown.
absl::StatusOr<store::ChangeQuery> ReadQuery(const v1::ListChangesRequest& request) {
  store::ChangeQuery query;
  const std::string& token = request.page_token();
  const auto [end, error] =
      std::from_chars(token.data(), token.data() + token.size(), query.before_revision);
  if (!token.empty() &&
      (error != std::errc() || end != token.data() + token.size() || query.before_revision <= 0)) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "page_token is not one that control gave; leave it empty to begin again");
  }
  query.limit = request.page_size() <= 0 ? kPageDefault : std::min(request.page_size(), kPageMax);
  query.resource = request.resource();
  // As changes have it: an operator's id.
  constexpr std::string_view kOperators = "operators/";
  query.who = request.who().starts_with(kOperators) ? request.who().substr(kOperators.size())
                                                    : request.who();
  if (request.has_since()) {
    query.since = std::chrono::system_clock::time_point(std::chrono::microseconds(
        google::protobuf::util::TimeUtil::TimestampToMicroseconds(request.since())));
  }
  return query;
}

absl::StatusOr<v1::ListChangesResponse> ListChanges(store::Store& store, Visibility visibility,
                                                    const v1::ListChangesRequest& request) {
  const auto query = ReadQuery(request);
  if (!query.ok()) {
    return query.status();
  }
  if (!query->resource.empty()) {
    if (absl::Status status = visibility.Check(query->resource); !status.ok()) {
      return status;
    }
  }
  const auto changes = store.ListChanges(*query);
  if (!changes.ok()) {
    return changes.status();
  }
  v1::ListChangesResponse response;
  for (const v1::Change& change : *changes) {
    if (absl::Status status = AddVisible(change, visibility, response); !status.ok()) {
      return status;
    }
  }
  if (std::ssize(*changes) == query->limit) {
    response.set_next_page_token(std::to_string(changes->back().revision()));
  }
  return response;
}

absl::StatusOr<v1::UndoChangeResponse> Undo(store::Store& store, domain::Access& access,
                                            const domain::Caller& caller,
                                            const v1::UndoChangeRequest& request) {
  domain::WriteOptions options;
  options.validate_only = request.validate_only();
  options.request_id = request.request_id();
  if (!options.request_id.empty()) {
    options.request_fingerprint = Fingerprint(request);
  }
  options.reason = request.reason();
  options.force = request.force();
  return domain::UndoChange(store, access, caller, request, options);
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

}  // namespace

void AddChangeMethods(store::Store& store, domain::Access& access, feed::Feed& feed,
                      Methods& methods) {
  methods.AddCustom<v1::ListChangesRequest>(
      "croft.v1.ChangeService.ListChanges", Access::kOperator,
      [&store, &access](const domain::Caller& caller, const v1::ListChangesRequest& request) {
        return ListChanges(store, Visibility(store, access, caller), request);
      });
  methods.AddCustom<v1::GetChangeRequest>(
      "croft.v1.ChangeService.GetChange", Access::kOperator,
      [&store, &access](const domain::Caller& caller, const v1::GetChangeRequest& request) {
        return domain::GetChange(store, access, caller, request);
      });
  methods.AddCustom<v1::ListHistoryRequest>(
      "croft.v1.ChangeService.ListHistory", Access::kOperator,
      [&store, &access](const domain::Caller& caller, const v1::ListHistoryRequest& request) {
        return domain::ListHistory(store, access, caller, request);
      });
  methods.AddCustom<v1::UndoChangeRequest>(
      "croft.v1.ChangeService.UndoChange", Access::kOperator,
      [&store, &access](const domain::Caller& caller, const v1::UndoChangeRequest& request) {
        return Undo(store, access, caller, request);
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

}  // namespace croft::control::api
