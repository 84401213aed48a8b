// top, get counters, list events, list changes: what nodes report and what operators did.
#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "admin-cli/invocation.h"
#include "admin-cli/nouns.h"
#include "croft/v1/change.pb.h"
#include "croft/v1/report.pb.h"
#include "proto/base/error.h"
#include "proto/contract/strict_reader.h"

namespace croft::admin_cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// Prints the response in the machine formats; false leaves it to a table.
bool PrintMachineForm(const google::protobuf::Message& response, Format format) {
  if (format == Format::kYaml) {
    std::printf("%s", contract::WriteYaml(response, true).c_str());
    return true;
  }
  if (format == Format::kJson || format == Format::kJsonLines) {
    std::printf("%s\n", contract::WriteJson(response, true).c_str());
    return true;
  }
  return false;
}

std::string Singular(const std::string& type) {
  return type.ends_with('s') ? type.substr(0, type.size() - 1) : type;
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
  return more > 0 ? what + fmt::format(" and {} more", more) : what;
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
  if (PrintMachineForm(response, invocation.format)) {
    return ExitCode::kDone;
  }
  const std::vector<std::string> columns = TopColumns(request.type());
  std::vector<std::string> titles = {"INSTANCE"};
  titles.insert(titles.end(), columns.begin(), columns.end());
  Rows rows;
  for (const auto& instance : response.instances()) {
    std::vector<std::string> row = {instance.instance()};
    for (const std::string& column : columns) {
      row.push_back(CounterCell(instance, column));
    }
    rows.push_back(std::move(row));
  }
  TablePrinter(titles, invocation.format).Print(rows);
  return ExitCode::kDone;
}

// croft get counters TYPE [NAME]
ExitCode GetCounters(ApiClient& client, const Invocation& invocation) {
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
  if (PrintMachineForm(response, invocation.format)) {
    return ExitCode::kDone;
  }
  Rows rows;
  for (const auto& instance : response.instances()) {
    for (const auto& counter : instance.counters()) {
      rows.push_back({instance.instance(), counter.name(), std::to_string(counter.value()),
                      fmt::format("{:.1f}", counter.rate())});
    }
  }
  TablePrinter({"INSTANCE", "COUNTER", "VALUE", "PER SECOND"}, invocation.format).Print(rows);
  return ExitCode::kDone;
}

ExitCode ListEvents(ApiClient& client, const Invocation& invocation) {
  v1::ListEventsRequest request;
  request.set_page_size(invocation.limit);
  request.set_resource(invocation.names.empty() ? "" : invocation.names[0]);
  v1::ListEventsResponse response;
  if (auto status = client.Call("ReportService/ListEvents", request, response); !status.ok()) {
    return Fail(status);
  }
  if (PrintMachineForm(response, invocation.format)) {
    return ExitCode::kDone;
  }
  Rows rows;
  for (const auto& event : response.events()) {
    rows.push_back({google::protobuf::util::TimeUtil::ToString(event.time()),
                    std::string(ShortName(event.node())), event.kind(), event.message()});
  }
  TablePrinter({"TIME", "NODE", "KIND", "MESSAGE"}, invocation.format).Print(rows);
  return ExitCode::kDone;
}

ExitCode ListChanges(ApiClient& client, const Invocation& invocation) {
  v1::ListChangesRequest request;
  request.set_page_size(invocation.limit);
  request.set_resource(invocation.names.empty() ? "" : invocation.names[0]);
  v1::ListChangesResponse response;
  if (auto status = client.Call("ChangeService/ListChanges", request, response); !status.ok()) {
    return Fail(status);
  }
  if (PrintMachineForm(response, invocation.format)) {
    return ExitCode::kDone;
  }
  Rows rows;
  for (const auto& change : response.changes()) {
    rows.push_back({std::to_string(change.revision()),
                    google::protobuf::util::TimeUtil::ToString(change.time()), change.who(),
                    WhatOf(change), change.reason()});
  }
  TablePrinter({"REVISION", "TIME", "WHO", "WHAT", "REASON"}, invocation.format).Print(rows);
  return ExitCode::kDone;
}

}  // namespace croft::admin_cli
