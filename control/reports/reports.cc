#include "control/reports/reports.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <utility>

#include "control/reports/instance_types.h"
#include "proto/base/error.h"

namespace croft::control::reports {
namespace {

using contract::counters::Catalogue;
using contract::counters::CounterFacts;

constexpr std::string_view kWorkersCollection = "/workers/";
constexpr int kTopDefault = 20;
constexpr int kPageDefault = 100;
constexpr int kPageMax = 1000;

std::int64_t ResourceUid(const Instance& instance) {
  return instance.type == InstanceType::kWorker ? instance.node_uid : instance.uid;
}

v1::InstanceCounters MakeCounters(const std::string& name, InstanceType type,
                                  const Counts& counts) {
  v1::InstanceCounters made;
  made.set_instance(name);
  const std::span<const CounterFacts> facts = Catalogue(type);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    v1::CounterValue& value = *made.add_counters();
    value.set_name(std::string(facts[i].name));
    value.set_value(counts.values[i]);
    value.set_rate(counts.rates[i]);
  }
  return made;
}

absl::StatusOr<std::int64_t> ParseToken(const std::string& token) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), id);
  if (!token.empty() && (error != std::errc() || end != token.data() + token.size() || id <= 0)) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "page_token is not one that control gave; leave it empty to begin again");
  }
  return id;
}

}  // namespace

Reports::Reports(store::Store& store, const Clock& clock, store::HistoryRetention retention)
    : store_(store),
      clock_(clock),
      retention_(retention),
      names_(store, clock),
      book_(clock),
      events_(store, names_) {}

void Reports::OnReport(const Reporter& node, const node::v1::NodeMessage& message) {
  if (message.has_counters()) {
    book_.Add(node, message.counters());
    return;
  }
  if (message.has_hello()) {
    book_.BeginStream(node);
    return;
  }
  book_.Hear(node);
  if (message.has_event()) {
    events_.PushOrDrop(node, message.event());
  }
}

absl::StatusOr<std::int64_t> Reports::UidOf(store::ResourceType type, const std::string& name,
                                            const MayRead& may_read) {
  const auto parsed = contract::ParseResourceName(name, type);
  if (!parsed.ok()) {
    return parsed.status();
  }
  const auto found = store_.Find(contract::FormatResourceName(*parsed));
  if (!found.ok()) {
    return found.status();
  }
  // A farm is a place to ask in, not what is asked for.
  const auto may = !found->has_value() ? absl::StatusOr<bool>(false)
                   : type == store::ResourceType::kFarm
                       ? absl::StatusOr<bool>(true)
                       : may_read(type, (*found)->organization_uid);
  if (!may.ok()) {
    return may.status();
  }
  if (!*may) {
    return Error(absl::StatusCode::kNotFound, "{} does not exist", name);
  }
  return (*found)->uid;
}

absl::StatusOr<std::map<Instance, std::string>> Reports::NamesOf(
    const std::map<Instance, Counts>& counts, const MayRead& may_read) {
  std::map<Instance, std::string> names;
  if (counts.empty()) {
    return names;
  }
  std::vector<std::int64_t> uids;
  for (const auto& [instance, unused] : counts) {
    uids.push_back(ResourceUid(instance));
  }
  const InstanceType type = counts.begin()->first.type;
  const auto found = names_.Find(ResourceOf(type), uids);
  if (!found.ok()) {
    return found.status();
  }
  for (const auto& [instance, unused] : counts) {
    const auto at = found->find(ResourceUid(instance));
    if (at == found->end()) {
      continue;
    }
    const auto may = may_read(ResourceOf(type), at->second.organization_uid);
    if (!may.ok()) {
      return may.status();
    }
    if (!*may) {
      continue;
    }
    names[instance] = type == InstanceType::kWorker
                          ? fmt::format("{}{}{}", at->second.name, kWorkersCollection, instance.uid)
                          : at->second.name;
  }
  return names;
}

absl::StatusOr<std::vector<v1::InstanceCounters>> Reports::Read(
    const v1::ListCountersRequest& request, const MayRead& may_read) {
  const auto type = ParseType(request.type());
  if (!type.ok()) {
    return type.status();
  }
  CountQuery query{.type = *type};
  const bool one_by_uid = !request.instance().empty() && *type != InstanceType::kWorker;
  for (const auto& [wanted, name, uid] :
       {std::tuple(store::ResourceType::kFarm, request.farm(), &query.farm_uid),
        std::tuple(store::ResourceType::kNode, request.node(), &query.node_uid)}) {
    if (name.empty() || name == "farms/-") {
      continue;
    }
    const auto found = UidOf(wanted, name, may_read);
    if (!found.ok()) {
      return found.status();
    }
    *uid = *found;
  }
  if (one_by_uid) {
    const auto found = UidOf(ResourceOf(*type), request.instance(), may_read);
    if (!found.ok()) {
      return found.status();
    }
    query.instance_uid = *found;
  }
  const auto marks = store_.ReadMarks(query.farm_uid);
  if (!marks.ok()) {
    return marks.status();
  }
  for (const store::NodeMarks& node : *marks) {
    if (node.connected) {
      query.live_nodes.insert(node.node_uid);
    }
  }
  const std::map<Instance, Counts> counts = book_.Read(query);
  const auto names = NamesOf(counts, may_read);
  if (!names.ok()) {
    return names.status();
  }
  std::vector<v1::InstanceCounters> instances;
  for (const auto& [instance, name] : *names) {
    if (request.instance().empty() || one_by_uid || request.instance() == name) {
      instances.push_back(MakeCounters(name, *type, counts.at(instance)));
    }
  }
  return instances;
}

absl::StatusOr<v1::ListCountersResponse> Reports::ListCounters(
    const v1::ListCountersRequest& request, const MayRead& may_read) {
  auto instances = Read(request, may_read);
  if (!instances.ok()) {
    return instances.status();
  }
  std::ranges::sort(*instances, {},
                    [](const auto& one) -> const std::string& { return one.instance(); });
  v1::ListCountersResponse response;
  for (v1::InstanceCounters& instance : *instances) {
    response.add_instances()->Swap(&instance);
  }
  return response;
}

absl::StatusOr<v1::TopResponse> Reports::Top(const v1::TopRequest& request,
                                             const MayRead& may_read) {
  const auto type = ParseType(request.type());
  if (!type.ok()) {
    return type.status();
  }
  const std::string& order = request.order_by();
  const auto facts = Catalogue(*type);
  auto column = std::ranges::find(facts, order.empty() ? kTopCounter : order, &CounterFacts::name);
  if (order.empty() && column == facts.end()) {
    column = facts.begin();
  }
  if (column == facts.end()) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "a {} has no counter \"{}\"; counters.md lists them", request.type(), order);
  }
  const auto at = static_cast<int>(column - facts.begin());
  v1::ListCountersRequest all;
  all.set_type(request.type());
  all.set_farm(request.farm());
  auto instances = Read(all, may_read);
  if (!instances.ok()) {
    return instances.status();
  }
  const auto rank = [at](const v1::InstanceCounters& one) {
    return std::tuple(-one.counters(at).rate(), -one.counters(at).value(), one.instance());
  };
  const int asked = request.limit() <= 0 ? kTopDefault : std::min(request.limit(), kPageMax);
  const auto limit = std::min<std::ptrdiff_t>(asked, std::ssize(*instances));
  std::ranges::partial_sort(*instances, instances->begin() + limit, {}, rank);
  v1::TopResponse response;
  for (auto one = instances->begin(); one != instances->begin() + limit; ++one) {
    response.add_instances()->Swap(&*one);
  }
  return response;
}

absl::StatusOr<v1::ListEventsResponse> Reports::ListEvents(const v1::ListEventsRequest& request) {
  const auto before = ParseToken(request.page_token());
  if (!before.ok()) {
    return before.status();
  }
  const int size =
      request.page_size() <= 0 ? kPageDefault : std::min(request.page_size(), kPageMax);
  store::EventQuery query{.before_id = *before,
                          .after_id = std::nullopt,
                          .limit = size,
                          .resource = request.resource(),
                          .since = std::nullopt};
  if (request.has_since()) {
    query.since = std::chrono::system_clock::time_point(std::chrono::microseconds(
        google::protobuf::util::TimeUtil::TimestampToMicroseconds(request.since())));
  }
  const auto events = store_.ListEvents(query);
  if (!events.ok()) {
    return events.status();
  }
  v1::ListEventsResponse response;
  for (const v1::Event& event : *events) {
    *response.add_events() = event;
  }
  if (response.events_size() == size) {
    response.set_next_page_token(std::to_string(response.events(size - 1).id()));
  }
  return response;
}

}  // namespace croft::control::reports
