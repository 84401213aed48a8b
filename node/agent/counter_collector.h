// Gathers the counters of the node's processes into reports for control: only rows that changed
// since the last report on this stream. Every memory is read as it is, cumulative; control takes
// differences. Supervision thread only.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "croft/node/v1/feed.pb.h"
#include "node/counters/counter_memory.h"

namespace croft::node::agent {

class CounterCollector {
 public:
  // Rows in one report, so that it stays below 1 MiB.
  static constexpr int kRowsPerReportMax = 2000;
  // Memories of ended processes that wait for their last report; the oldest is dropped.
  static constexpr std::size_t kEndedMax = 256;

  // "listener", "worker/17", "agent". Replaces a source of the same name.
  absl::Status AddSource(const std::string& name, int memory_fd);
  // Its process has ended: its values are reported once more, the gauges as 0.
  void EndSource(const std::string& name);

  // A new stream: control knows nothing of what was sent on the one before.
  void ForgetReported();
  // One round over all sources: what changed, as reports of bounded size. The first round on a
  // stream ends with an empty report, without a source: what comes later was not counted before it.
  std::vector<v1::CounterReport> Collect();

  // Over all instances and sources, ended ones included, whose gauges count no longer.
  std::vector<std::int64_t> Sum(counters::InstanceType type) const;
  // By uid, over the sources that are there.
  std::map<std::int64_t, std::vector<std::int64_t>> SumByInstance(
      counters::InstanceType type) const;

 private:
  struct RowKey {
    std::uint32_t type = 0;
    std::int64_t uid = 0;
    bool operator==(const RowKey&) const = default;
  };
  struct RowKeyHash {
    std::size_t operator()(const RowKey& key) const;
  };
  struct Source {
    std::string name;
    std::unique_ptr<counters::CounterMemory> memory;
    bool ended = false;
    // Hash of the values last reported.
    std::unordered_map<RowKey, std::size_t, RowKeyHash> reported;
  };
  // What it counted stays in the sums.
  void KeepSums(const Source& source);
  static void CollectSource(Source& source, std::vector<v1::CounterReport>& reports);

  std::vector<Source> sources_;
  std::map<counters::InstanceType, std::vector<std::int64_t>> ended_;
  bool all_due_ = false;
};

}  // namespace croft::node::agent
