#include "control/metrics/control_page.h"

#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include "control/feed/feed.h"
#include "croft/v1/node.pb.h"
#include "proto/metrics/counter_metrics.h"
#include "proto/metrics/metrics_page.h"

namespace croft::control::metrics {
namespace {

using contract::counters::InstanceType;
using croft::metrics::AddCounters;
using croft::metrics::Labels;
using croft::metrics::MetricsPage;
using croft::metrics::Scope;

double Double(auto value) { return static_cast<double>(value); }

// "farms/main/nodes/web1": farm="main", node="web1".
Labels LabelsOf(const std::string& name, const std::string& kind) {
  const std::size_t farm = name.find('/') + 1;
  return {{"farm", name.substr(farm, name.find('/', farm) - farm)},
          {kind, name.substr(name.rfind('/') + 1)}};
}

void AddExecutor(const api::DbExecutor& executor, MetricsPage& page) {
  const api::DbExecutor::Load load = executor.load();
  page.AddGauge("croft_control_executor_queued", "Calls that wait for a thread.", {},
                Double(load.queued));
  page.AddGauge("croft_control_executor_queued_max", "Calls that may wait; others are refused.", {},
                Double(load.queued_max));
  page.AddGauge("croft_control_executor_running",
                "Calls that are carried out, this page's included.", {}, Double(load.running));
  page.AddGauge("croft_control_executor_threads", "Threads that carry calls out.", {},
                Double(load.threads));
  page.AddCounter("croft_control_executor_refused_total", "Calls refused because too many waited.",
                  {}, Double(load.refused));
}

// The revision, and with it how long the database took to tell it; nullopt when it did not.
std::optional<std::int64_t> AddDatabase(const Sources& sources, MetricsPage& page) {
  const auto begin = sources.clock.Monotonic();
  const auto head = sources.store.GetHead();
  const std::chrono::duration<double> took = sources.clock.Monotonic() - begin;
  page.AddGauge("croft_control_database_up", "1 when the database has answered this page.", {},
                head.ok() ? 1 : 0);
  page.AddGauge("croft_control_database_latency_seconds",
                "How long the database took to answer a small question of this page.", {},
                took.count());
  if (!head.ok()) {
    return std::nullopt;
  }
  page.AddGauge("croft_control_revision", "Of the last change.", {},
                Double(head->position.revision()));
  return head->position.revision();
}

void AddNode(const store::NodeMarks& marks, std::int64_t revision,
             std::chrono::system_clock::time_point now, MetricsPage& page) {
  v1::NodeStatus status;
  status.ParseFromString(marks.status);
  const Labels labels = LabelsOf(marks.node, "node");
  page.AddGauge("croft_node_connected", "1 when the node is connected to a control.", labels,
                feed::IsConnected(marks, now) ? 1 : 0);
  page.AddGauge("croft_node_draining", "1 when the node was taken out of service.", labels,
                marks.draining ? 1 : 0);
  page.AddGauge("croft_node_lag_revisions", "Changes that the node does not serve yet.", labels,
                Double(std::max<std::int64_t>(0, revision - marks.serving_revision)));
  page.AddGauge("croft_node_serving_revision", "The change up to which the node serves.", labels,
                Double(marks.serving_revision));
  page.AddGauge("croft_node_quarantined_records",
                "Records the node refused; the last good version of each serves.", labels,
                status.quarantine_size());
  page.AddGauge(
      "croft_node_problem",
      "1 when the node cannot apply changes or lacks something; croft get node says what.", labels,
      status.problem().empty() ? 0 : 1);
  page.AddGauge("croft_node_last_contact_timestamp_seconds", "When the node was heard from.",
                labels, Double(UnixMillis(marks.last_contact)) / 1000);
}

// Names of nodes by uid; nodes that never came are left out.
std::map<std::int64_t, std::string> AddNodes(const Sources& sources, std::int64_t revision,
                                             MetricsPage& page) {
  std::map<std::int64_t, std::string> names;
  const auto nodes = sources.store.ReadMarks(0);
  if (!nodes.ok()) {
    return names;
  }
  const auto now = sources.clock.Now();
  for (const store::NodeMarks& marks : *nodes) {
    if (marks.ever_connected) {
      AddNode(marks, revision, now, page);
    }
    names[marks.node_uid] = marks.node;
  }
  return names;
}

void AddSums(const Sources& sources, const std::map<std::int64_t, std::string>& names,
             MetricsPage& page) {
  for (const auto& [uid, node] : sources.reports.book().ReadSums()) {
    const auto name = names.find(uid);
    if (name == names.end()) {
      continue;
    }
    for (const InstanceType type : {InstanceType::kNode, InstanceType::kSite, InstanceType::kPool,
                                    InstanceType::kWorker, InstanceType::kStore}) {
      const auto sums = node.sums.find(type);
      AddCounters(type, Scope::kSum,
                  sums == node.sums.end() ? std::span<const std::int64_t>() : sums->second,
                  LabelsOf(name->second, "node"), page);
    }
  }
}

void AddBusiest(const Sources& sources, InstanceType type, store::ResourceType resource,
                MetricsPage& page) {
  const auto busiest = sources.reports.book().ReadBusiest(type, sources.sites_max);
  std::vector<std::int64_t> uids;
  for (const auto& [uid, values] : busiest) {
    uids.push_back(uid);
  }
  const auto names = sources.reports.names().Find(resource, uids);
  for (const auto& [uid, values] : busiest) {
    if (names.ok() && names->contains(uid)) {
      const std::string kind(contract::counters::NameOf(type));
      AddCounters(type, Scope::kOne, values, LabelsOf(names->at(uid).name, kind), page);
    }
  }
}

}  // namespace

std::string MakeControlPage(const Sources& sources) {
  MetricsPage page;
  page.AddProcess();
  AddExecutor(sources.executor, page);
  page.AddCounter("croft_control_events_dropped_total",
                  "Events of nodes that were not kept because too many came.", {},
                  Double(sources.reports.events_dropped()));
  page.AddCounter("croft_control_history_rows_lost_total",
                  "Rows of counter history that were not kept because there were too many.", {},
                  Double(sources.reports.book().history_rows_lost()));
  const auto revision = AddDatabase(sources, page);
  if (revision.has_value()) {
    const auto names = AddNodes(sources, *revision, page);
    AddSums(sources, names, page);
    AddBusiest(sources, InstanceType::kSite, store::ResourceType::kSite, page);
    AddBusiest(sources, InstanceType::kPool, store::ResourceType::kPool, page);
  }
  return page.Text();
}

}  // namespace croft::control::metrics
