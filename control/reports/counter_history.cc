// Reports::ListCounterHistory.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "control/reports/history_steps.h"
#include "control/reports/instance_types.h"
#include "control/reports/reports.h"
#include "proto/base/error.h"

namespace croft::control::reports {
namespace {

using contract::counters::Catalogue;
using contract::counters::CounterFacts;

constexpr std::int64_t kSinceDefault = 3600;
constexpr std::int64_t kStepMsMost = std::int64_t{10} * 365 * 86'400 * 1000;
// Instances that are added up for a caller who does not see all of them.
constexpr int kSummedMax = 10'000;
constexpr int kPage = 1000;
constexpr std::string_view kWorkersCollection = "/workers/";

// Of the catalogue, in the order asked for.
absl::StatusOr<std::vector<std::size_t>> FindCounters(const v1::ListCounterHistoryRequest& request,
                                                      InstanceType type) {
  const std::span<const CounterFacts> facts = Catalogue(type);
  std::vector<std::size_t> columns;
  for (const std::string& name : request.counters()) {
    const auto at = std::ranges::find(facts, name, &CounterFacts::name);
    if (at == facts.end()) {
      return Error(absl::StatusCode::kInvalidArgument,
                   "counters: a {} has no counter \"{}\"; counters.md lists them", request.type(),
                   name);
    }
    columns.push_back(static_cast<std::size_t>(at - facts.begin()));
  }
  if (columns.empty()) {
    const auto usual = std::ranges::find(facts, kTopCounter, &CounterFacts::name);
    columns.push_back(usual == facts.end() ? 0 : static_cast<std::size_t>(usual - facts.begin()));
  }
  return columns;
}

absl::StatusOr<HistorySpan> FindSpan(const v1::ListCounterHistoryRequest& request, std::int64_t now,
                                     const store::HistoryRetention& retention) {
  const std::int64_t until = request.has_until() ? std::min(request.until().seconds(), now) : now;
  const std::int64_t since = request.has_since()
                                 ? std::max<std::int64_t>(0, request.since().seconds())
                                 : until - kSinceDefault;
  const std::int64_t step_ms = std::clamp<std::int64_t>(request.step_ms(), 0, kStepMsMost);
  return ChooseSteps(since, until, (step_ms + 999) / 1000, now, retention);
}

v1::ListCounterHistoryResponse MakeResponse(std::span<const std::size_t> columns, InstanceType type,
                                            const HistorySpan& span,
                                            const std::vector<store::HistoryPoint>& points) {
  v1::ListCounterHistoryResponse response;
  response.set_step_ms(span.step * 1000);
  for (const std::size_t column : columns) {
    v1::CounterSeries& series = *response.add_series();
    series.set_counter(std::string(Catalogue(type)[column].name));
    auto next = points.begin();
    for (std::int64_t at = span.from; at < span.to; at += span.step) {
      v1::CounterPoint& point = *series.add_points();
      point.mutable_time()->set_seconds(at);
      if (next != points.end() && next->at == at) {
        point.set_value(next->values[column]);
        ++next;
      } else {
        point.set_missing(true);
      }
    }
  }
  return response;
}

}  // namespace

// "farms/main/nodes/web1/workers/17" is its node's uid and 17.
absl::Status Reports::FindInstance(const v1::ListCounterHistoryRequest& request, InstanceType type,
                                   const MayRead& may_read, store::HistoryQuery& query) {
  std::string name = request.instance();
  std::int64_t process = 0;
  if (type == InstanceType::kWorker) {
    const std::size_t at = name.rfind(kWorkersCollection);
    const char* digits = name.data() + std::min(name.size(), at + kWorkersCollection.size());
    const auto parsed = std::from_chars(digits, name.data() + name.size(), process);
    if (at == std::string::npos || parsed.ec != std::errc() || *parsed.ptr != '\0') {
      return Error(absl::StatusCode::kInvalidArgument,
                   "instance \"{}\" is no worker's name; it is like "
                   "farms/main/nodes/web1/workers/17",
                   name);
    }
    name.resize(at);
  }
  const auto uid = UidOf(ResourceOf(type), name, may_read);
  if (!uid.ok()) {
    return uid.status();
  }
  query.uids = {{type == InstanceType::kWorker ? process : *uid}};
  if (ResourceOf(type) == store::ResourceType::kNode) {
    query.node_uid = *uid;
  }
  return absl::OkStatus();
}

absl::Status Reports::FindVisible(const std::vector<std::int64_t>& organizations, InstanceType type,
                                  store::HistoryQuery& query) {
  query.uids.emplace();
  if (organizations.empty()) {
    return absl::OkStatus();
  }
  store::ListQuery list{.type = ResourceOf(type), .farm_uid = query.farm_uid, .limit = kPage};
  list.within = organizations;
  for (;;) {
    const auto page = store_.List(list);
    if (!page.ok()) {
      return page.status();
    }
    for (const store::StoredResource& row : *page) {
      query.uids->push_back(row.uid);
    }
    if (std::ssize(*page) < kPage) {
      return absl::OkStatus();
    }
    if (std::ssize(*query.uids) >= kSummedMax) {
      return Error(absl::StatusCode::kResourceExhausted,
                   "more than {} {}s would have to be added up; name one as the instance",
                   kSummedMax, contract::counters::NameOf(type));
    }
    list.after_name = page->back().name;
  }
}

absl::StatusOr<v1::ListCounterHistoryResponse> Reports::ListCounterHistory(
    const v1::ListCounterHistoryRequest& request, const MayRead& may_read,
    const VisibleOrganizations& visible) {
  const auto type = ParseType(request.type());
  if (!type.ok()) {
    return type.status();
  }
  const auto columns = FindCounters(request, *type);
  if (!columns.ok()) {
    return columns.status();
  }
  const auto span = FindSpan(request, UnixMillis(clock_.Now()) / 1000, retention_);
  if (!span.ok()) {
    return span.status();
  }
  store::HistoryQuery query{
      .type = *type, .level = span->level, .step = span->step, .from = span->from, .to = span->to};
  if (!request.farm().empty() && request.farm() != "farms/-") {
    const auto farm = UidOf(store::ResourceType::kFarm, request.farm(), may_read);
    if (!farm.ok()) {
      return farm.status();
    }
    query.farm_uid = *farm;
  }
  if (query.farm_uid == 0 && request.instance().starts_with("farms/")) {
    const std::string& name = request.instance();
    const auto farm = UidOf(store::ResourceType::kFarm,
                            name.substr(0, name.find('/', std::strlen("farms/"))), may_read);
    if (!farm.ok()) {
      return farm.status();
    }
    query.farm_uid = *farm;
  }
  absl::Status status;
  const auto organizations = visible(ResourceOf(*type));
  if (!request.instance().empty()) {
    status = FindInstance(request, *type, may_read, query);
  } else if (organizations.has_value()) {
    status = FindVisible(*organizations, *type, query);
  }
  if (!status.ok()) {
    return status;
  }
  const auto points = store_.ReadCounterHistory(query);
  if (!points.ok()) {
    return points.status();
  }
  return MakeResponse(*columns, *type, *span, *points);
}

}  // namespace croft::control::reports
