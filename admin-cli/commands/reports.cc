// top, get counters, list events, list changes: what nodes report and what operators did.
#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "admin-cli/commands/counter_history.h"
#include "admin-cli/invocation.h"
#include "admin-cli/nouns.h"
#include "admin-cli/subject.h"
#include "croft/v1/change.pb.h"
#include "croft/v1/report.pb.h"
#include "proto/base/error.h"

namespace croft::admin_cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr int kDefaultLimit = 100;
// Control lists no more of what one change touched.
constexpr int kResourcesListedMax = 100;
constexpr int kPageSizeMax = 1000;
// Instances that top shows the last hour of.
constexpr int kBarsMax = 20;

// Prints the items in the forms for other programs; false leaves them to a table.
template <typename Items, typename NameOf>
bool PrintItems(const Items& items, Format format, const NameOf& name_of) {
  if (!ItemPrinter::Prints(format)) {
    return false;
  }
  ItemPrinter printer(format);
  for (const auto& item : items) {
    printer.Print(item, name_of(item));
  }
  printer.Finish();
  return true;
}

bool PrintInstances(const google::protobuf::RepeatedPtrField<v1::InstanceCounters>& instances,
                    Format format) {
  return PrintItems(instances, format, [](const auto& instance) { return instance.instance(); });
}

// What "list events" and "list changes" are asked about.
absl::StatusOr<std::string> ObjectOf(const Invocation& invocation) {
  if (!invocation.object.empty() && invocation.names.empty()) {
    return ParseObject(invocation.object, invocation.farm);
  }
  return SubjectOf(invocation.names, invocation.farm,
                   fmt::format("list {} wants nothing more, a type and a name (site shop), or a "
                               "full name (farms/main/sites/shop)",
                               invocation.type));
}

// Calls a list method newest first until the limit: `take` adds a page's items and says how many
// there are now.
template <typename Request, typename Response, typename Take>
absl::Status ReadNewest(ApiClient& client, const std::string& method, const Invocation& invocation,
                        const Take& take) {
  auto subject = ObjectOf(invocation);
  if (!subject.ok()) {
    return subject.status();
  }
  const int limit = invocation.limit > 0 ? invocation.limit : kDefaultLimit;
  Request request;
  request.set_resource(*std::move(subject));
  if (!invocation.since.empty()) {
    const auto since = ParseSince(invocation.since, Now());
    if (!since.ok()) {
      return since.status();
    }
    *request.mutable_since() = *since;
  }
  if constexpr (requires { request.set_who(invocation.who); }) {
    request.set_who(invocation.who);
  }
  for (int have = 0; have < limit;) {
    request.set_page_size(std::min(limit - have, kPageSizeMax));
    Response response;
    if (auto status = client.Call(method, request, response); !status.ok()) {
      return status;
    }
    have = take(response);
    if (response.next_page_token().empty()) {
      return absl::OkStatus();
    }
    request.set_page_token(response.next_page_token());
  }
  if (invocation.limit == 0) {
    std::fprintf(stderr, "the newest %d; --limit N shows more\n", limit);
  }
  return absl::OkStatus();
}

std::string Singular(const std::string& type) {
  for (const std::string noun : {"node", "site", "pool", "worker", "store"}) {
    if (type == noun + "s") {
      return noun;
    }
  }
  return type;
}

// The counters a table has room for, per type.
std::vector<std::string> TopColumns(const std::string& type) {
  if (type == "pool") {
    return {"requests_total",    "requests_active", "requests_queued", "rejected_queue_full_total",
            "lost_worker_total", "workers"};
  }
  if (type == "node") {
    return {"requests_total", "connections", "bytes_sent_total", "no_site_total",
            "bad_requests_total"};
  }
  if (type == "worker") {
    return {"requests_total", "requests_active", "bytes_sent_total", "not_found_total"};
  }
  if (type == "store") {
    return {"opens_total", "bytes_read_total", "busy_total", "threads_busy", "errors_total"};
  }
  return {"requests_total", "bytes_sent_total", "status_4xx_total", "status_5xx_total",
          "requests_active"};
}

std::string CounterCell(const v1::InstanceCounters& instance, const std::string& name) {
  for (const auto& counter : instance.counters()) {
    if (counter.name() == name) {
      return counter.rate() > 0 ? fmt::format("{} ({:.1f}/s)", counter.value(), counter.rate())
                                : std::to_string(counter.value());
    }
  }
  return "-";
}

// "create farms/main/sites/shop"; of a bulk change the first ones and how many more.
std::string WhatOf(const v1::Change& change) {
  constexpr int kShown = 3;
  std::string what;
  for (int i = 0; i < std::min(kShown, change.resources_size()); ++i) {
    const auto& resource = change.resources(i);
    what += (i == 0 ? "" : ", ") + resource.action() + " " + resource.name();
  }
  const int more = change.resources_size() - kShown;
  const bool all = change.resources_size() < kResourcesListedMax;
  return more > 0 ? what + fmt::format(" and {}{} more", all ? "" : "at least ", more) : what;
}

}  // namespace

ExitCode Top(ApiClient& client, const Invocation& invocation) {
  v1::TopRequest request;
  request.set_type(Singular(invocation.type));
  request.set_farm("farms/" + invocation.farm);
  request.set_order_by(invocation.order_by);
  request.set_limit(invocation.limit);
  v1::TopResponse response;
  if (auto status = client.Call("ReportService/Top", request, response); !status.ok()) {
    return Fail(status);
  }
  if (PrintInstances(response.instances(), invocation.format)) {
    return ExitCode::kDone;
  }
  const std::vector<std::string> columns = TopColumns(request.type());
  // A few instances only: each line of bars is a call of its own.
  const bool bars = invocation.format == Format::kTable && response.instances_size() <= kBarsMax;
  const std::string sorted_by = request.order_by().empty() ? "requests_total" : request.order_by();
  std::vector<std::string> titles = {"INSTANCE"};
  titles.insert(titles.end(), columns.begin(), columns.end());
  if (bars) {
    titles.push_back("LAST HOUR");
  }
  Rows rows;
  for (const auto& instance : response.instances()) {
    std::vector<std::string> row = {instance.instance()};
    for (const std::string& column : columns) {
      row.push_back(CounterCell(instance, column));
    }
    if (bars) {
      row.push_back(LastHour(client, request, instance.instance(), sorted_by));
    }
    rows.push_back(std::move(row));
  }
  return PrintTable(titles, rows, invocation, "nothing was counted yet");
}

// croft get counters TYPE [NAME]
ExitCode GetCounters(ApiClient& client, const Invocation& invocation) {
  if (!invocation.since.empty() || !invocation.step.empty()) {
    return GetCounterHistory(client, invocation);
  }
  if (invocation.names.empty() || invocation.names.size() > 2) {
    return Fail(Error(absl::StatusCode::kUnimplemented,
                      "get counters wants a type (node, site, pool, worker, store) and perhaps a "
                      "name"));
  }
  v1::ListCountersRequest request;
  request.set_type(Singular(invocation.names[0]));
  request.set_farm("farms/" + invocation.farm);
  if (invocation.names.size() == 2) {
    const auto noun = FindNoun(request.type());
    request.set_instance(noun.ok() ? FullName(**noun, invocation.names[1], invocation.farm)
                                   : invocation.names[1]);
  }
  if (!invocation.node.empty()) {
    request.set_node(FullName(**FindNoun("node"), invocation.node, invocation.farm));
  }
  v1::ListCountersResponse response;
  if (auto status = client.Call("ReportService/ListCounters", request, response); !status.ok()) {
    return Fail(status);
  }
  if (PrintInstances(response.instances(), invocation.format)) {
    return ExitCode::kDone;
  }
  Rows rows;
  for (const auto& instance : response.instances()) {
    for (const auto& counter : instance.counters()) {
      rows.push_back({instance.instance(), counter.name(), std::to_string(counter.value()),
                      fmt::format("{:.1f}", counter.rate())});
    }
  }
  return PrintTable({"INSTANCE", "COUNTER", "VALUE", "PER SECOND"}, rows, invocation,
                    "nothing was counted yet");
}

ExitCode ListEvents(ApiClient& client, const Invocation& invocation) {
  google::protobuf::RepeatedPtrField<v1::Event> events;
  const auto status = ReadNewest<v1::ListEventsRequest, v1::ListEventsResponse>(
      client, "ReportService/ListEvents", invocation, [&](v1::ListEventsResponse& page) {
        events.MergeFrom(page.events());
        return events.size();
      });
  if (!status.ok()) {
    return Fail(status);
  }
  const auto name = [](const v1::Event& event) { return std::to_string(event.id()); };
  if (PrintItems(events, invocation.format, name)) {
    return ExitCode::kDone;
  }
  Rows rows;
  for (const auto& event : events) {
    rows.push_back({google::protobuf::util::TimeUtil::ToString(event.time()),
                    std::string(ShortName(event.node())), event.kind(), event.message()});
  }
  return PrintTable({"TIME", "NODE", "KIND", "MESSAGE"}, rows, invocation, "no event");
}

ExitCode ListChanges(ApiClient& client, const Invocation& invocation) {
  google::protobuf::RepeatedPtrField<v1::Change> changes;
  const auto status = ReadNewest<v1::ListChangesRequest, v1::ListChangesResponse>(
      client, "ChangeService/ListChanges", invocation, [&](v1::ListChangesResponse& page) {
        changes.MergeFrom(page.changes());
        return changes.size();
      });
  if (!status.ok()) {
    return Fail(status);
  }
  const auto name = [](const v1::Change& change) { return std::to_string(change.revision()); };
  if (PrintItems(changes, invocation.format, name)) {
    return ExitCode::kDone;
  }
  Rows rows;
  for (const auto& change : changes) {
    rows.push_back({std::to_string(change.revision()),
                    google::protobuf::util::TimeUtil::ToString(change.time()), change.who(),
                    WhatOf(change), change.reason()});
  }
  return PrintTable({"REVISION", "TIME", "WHO", "WHAT", "REASON"}, rows, invocation, "no change");
}

}  // namespace croft::admin_cli
