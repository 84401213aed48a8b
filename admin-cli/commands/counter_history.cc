// get counters --since: what counters were, step by step.
#include "admin-cli/commands/counter_history.h"

#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "admin-cli/invocation.h"
#include "admin-cli/nouns.h"
#include "admin-cli/sparkline.h"
#include "admin-cli/subject.h"
#include "proto/base/error.h"
#include "proto/contract/field_path.h"

namespace croft::admin_cli {
namespace {

using google::protobuf::util::TimeUtil;
using Points = std::vector<std::optional<std::int64_t>>;

constexpr std::size_t kSparklineWidth = 60;
constexpr std::size_t kTopWidth = 12;
constexpr const char* kDay = "24h";
constexpr const char* kHour = "1h";

Points PointsOf(const v1::CounterSeries& series) {
  Points points;
  for (const v1::CounterPoint& point : series.points()) {
    points.push_back(point.missing() ? std::nullopt : std::optional(point.value()));
  }
  return points;
}

// get counters TYPE [NAME] [COUNTER...]: what follows the type, where it names a counter, and the
// instance.
absl::StatusOr<v1::ListCounterHistoryRequest> RequestFor(const Invocation& invocation) {
  if (invocation.names.empty()) {
    return Error(absl::StatusCode::kUnimplemented,
                 "get counters wants a type (node, site, pool, worker, store), and perhaps a name "
                 "and counters");
  }
  v1::ListCounterHistoryRequest request;
  std::string type = invocation.names[0];
  const auto noun = FindNoun(type);
  type = noun.ok() ? std::string((*noun)->noun) : type == "workers" ? "worker" : type;
  request.set_type(type);
  request.set_farm("farms/" + invocation.farm);
  for (std::size_t i = 1; i < invocation.names.size(); ++i) {
    const std::string& name = invocation.names[i];
    if (i == 1) {
      request.set_instance(noun.ok() ? FullName(**noun, name, invocation.farm) : name);
    } else {
      request.add_counters(name);
    }
  }
  auto since = ParseSince(invocation.since.empty() ? kDay : invocation.since, Now());
  if (!since.ok()) {
    return since.status();
  }
  *request.mutable_since() = *since;
  if (!invocation.step.empty()) {
    const auto step = contract::ParseQuantity(invocation.step, v1::MILLISECONDS);
    if (!step.ok() || *step <= 0) {
      return Error(absl::StatusCode::kUnimplemented, "--step: \"{}\" is no duration like 5min",
                   invocation.step);
    }
    request.set_step_ms(*step);
  }
  return request;
}

// A line per counter: its bars, and the smallest, mean and largest step.
ExitCode PrintBars(const v1::ListCounterHistoryResponse& response, const Invocation& invocation) {
  std::vector<std::vector<std::string>> rows;
  for (const v1::CounterSeries& series : response.series()) {
    const Points points = PointsOf(series);
    std::int64_t least = 0, most = 0, sum = 0, count = 0;
    for (const auto& point : points) {
      if (point.has_value()) {
        least = count == 0 ? *point : std::min(least, *point);
        most = count == 0 ? *point : std::max(most, *point);
        sum += *point;
        ++count;
      }
    }
    const auto shown = [&](std::int64_t value) {
      return count == 0 ? std::string("-") : std::to_string(value);
    };
    rows.push_back({series.counter(), shown(least), shown(count == 0 ? 0 : sum / count),
                    shown(most), Sparkline(points, kSparklineWidth)});
  }
  return PrintTable({"COUNTER", "LEAST", "MEAN", "MOST", "HISTORY"}, rows, invocation,
                    "nothing was counted yet");
}

// A row per step, a column per counter.
ExitCode PrintSteps(const v1::ListCounterHistoryResponse& response, const Invocation& invocation) {
  std::vector<std::string> titles = {"TIME"};
  std::map<std::int64_t, std::vector<std::string>> by_time;
  const auto width = static_cast<std::size_t>(response.series_size());
  for (int i = 0; i < response.series_size(); ++i) {
    titles.push_back(response.series(i).counter());
    for (const v1::CounterPoint& point : response.series(i).points()) {
      auto& row = by_time[TimeUtil::TimestampToMilliseconds(point.time())];
      row.resize(width + 1);
      row[0] = TimeUtil::ToString(point.time());
      row[static_cast<std::size_t>(i) + 1] = point.missing() ? "" : std::to_string(point.value());
    }
  }
  std::vector<std::vector<std::string>> rows;
  for (auto& [time, row] : by_time) {
    for (std::string& cell : row) {
      cell = cell.empty() && invocation.format != Format::kCsv ? "-" : cell;
    }
    rows.push_back(std::move(row));
  }
  return PrintTable(titles, rows, invocation, "nothing was counted yet");
}

}  // namespace

std::string LastHour(ApiClient& client, const v1::TopRequest& top, const std::string& instance,
                     const std::string& counter) {
  v1::ListCounterHistoryRequest request;
  request.set_type(top.type());
  request.set_instance(instance);
  request.set_farm(top.farm());
  request.add_counters(counter);
  *request.mutable_since() = *ParseSince(kHour, Now());
  v1::ListCounterHistoryResponse response;
  const auto status = client.Call("ReportService/ListCounterHistory", request, response);
  return !status.ok() || response.series().empty()
             ? ""
             : Sparkline(PointsOf(response.series(0)), kTopWidth);
}

ExitCode GetCounterHistory(ApiClient& client, const Invocation& invocation) {
  const auto request = RequestFor(invocation);
  if (!request.ok()) {
    return Fail(request.status());
  }
  v1::ListCounterHistoryResponse response;
  if (auto status = client.Call("ReportService/ListCounterHistory", *request, response);
      !status.ok()) {
    return Fail(status);
  }
  if (ItemPrinter::Prints(invocation.format)) {
    ItemPrinter items(invocation.format);
    for (const v1::CounterSeries& series : response.series()) {
      items.Print(series, series.counter());
    }
    items.Finish();
    return ExitCode::kDone;
  }
  if (response.series().empty()) {
    std::fprintf(stderr, "nothing was counted yet\n");
    return ExitCode::kDone;
  }
  if (invocation.format != Format::kTable) {
    return PrintSteps(response, invocation);
  }
  const ExitCode code = PrintBars(response, invocation);
  std::fprintf(stderr, "in steps of %s; -o wide or csv shows each\n",
               contract::FormatQuantity(response.step_ms(), v1::MILLISECONDS).c_str());
  return code;
}

}  // namespace croft::admin_cli
