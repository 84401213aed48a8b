// Control's account of what nodes count. A report carries values cumulative since its source's boot
// id; the book adds differences, so that a lost or repeated report never counts twice. Gauges are
// replaced, and summed over sources of nodes that are live. What it adds also goes into the steps
// of counter history, except what a node tells first on a stream: that was counted before, and may
// be in the steps of another control. No I/O; thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/reports/step_counts.h"
#include "croft/node/v1/feed.pb.h"
#include "proto/base/clock.h"
#include "proto/base/guarded.h"
#include "proto/contract/counters.h"

namespace croft::control::reports {

using contract::counters::InstanceType;

// The node a report came from.
struct Reporter {
  std::int64_t node_uid = 0;
  std::string node;  // name
  std::int64_t farm_uid = 0;
};

// A site, pool or store by its uid; a node by its own; a worker by its node's uid and its process
// id.
struct Instance {
  InstanceType type = InstanceType::kNode;
  std::int64_t uid = 0;
  std::int64_t node_uid = 0;  // workers only

  auto operator<=>(const Instance&) const = default;
};

// In the order of the type's catalogue.
struct Counts {
  std::vector<std::int64_t> values;
  std::vector<double> rates;  // per second, over the last report interval; 0 for gauges
};

struct CountQuery {
  InstanceType type = InstanceType::kNode;
  std::int64_t farm_uid = 0;                                // 0: all farms
  std::int64_t node_uid = 0;                                // 0: the sum over nodes
  std::optional<std::int64_t> instance_uid = std::nullopt;  // only this one
  std::set<std::int64_t> live_nodes = {};                   // whose gauges count
};

// Sources a node may have; the one not heard of for longest goes first.
inline constexpr std::size_t kSourcesPerNodeMax = 4096;
// A worker is listed this long after its last report.
inline constexpr std::chrono::minutes kWorkerListed{10};
// A rate is given this long after the report it comes from.
inline constexpr std::chrono::seconds kRateKept{5};

class CounterBook {
 public:
  explicit CounterBook(const Clock& clock) : clock_(clock) {}

  // A stream has begun: every source will tell all it has, then comes an empty report.
  void BeginStream(const Reporter& node);
  // Anything was heard from the node.
  void Hear(const Reporter& node);
  void Add(const Reporter& node, const node::v1::CounterReport& report);
  // Steps of counter history; see StepCounts.
  std::vector<store::CounterStep> TakeSteps(bool all);
  std::map<Instance, Counts> Read(const CountQuery& query);
  // The busiest sites or pools of late, with their values over all nodes.
  std::vector<std::pair<std::int64_t, std::vector<std::int64_t>>> ReadBusiest(InstanceType type,
                                                                              std::size_t limit);
  // By node; see NodeSums.
  std::map<std::int64_t, NodeSums> ReadSums();
  std::uint64_t history_rows_lost();

 private:
  using Monotonic = std::chrono::steady_clock::time_point;
  struct Reported {
    std::vector<std::int64_t> last;   // as reported; a gauge's value
    std::vector<std::int64_t> added;  // by the last report
    Monotonic at;
    std::chrono::duration<double> interval{0};  // 0: no rate known
    std::uint64_t stream = 0;                   // on which it was last told
  };
  struct Source {
    std::uint64_t boot_id = 0;
    std::uint64_t stream = 0;
    std::optional<Monotonic> at;
    std::map<Instance, Reported> instances;
  };
  struct Node {
    std::int64_t uid = 0;
    std::int64_t farm_uid = 0;
    std::uint64_t stream = 0;  // counts them
    bool telling_all = false;  // what it had counted before this stream
    std::map<std::string, Source> sources;
    std::map<Instance, std::vector<std::int64_t>> totals;  // without gauges
  };
  struct Book {
    std::map<std::int64_t, Node> nodes;
    StepCounts steps;
  };

  Node& NodeOf(const Reporter& node, Book& book) const;
  static Source& SourceOf(Node& node, StepCounts& steps, const std::string& name);
  // Its gauges count no longer.
  static void EndGauges(const Node& node, Source& source, StepCounts& steps);
  static void OnAllTold(Node& node, StepCounts& steps);
  // Returns what changed: growth, and differences of gauges.
  static std::vector<std::int64_t> AddInstance(const Instance& instance,
                                               const node::v1::CounterInstance& values,
                                               const Reported& stamp,
                                               std::pair<Source&, Node&> place);
  static void ReadNode(const Node& node, std::pair<const CountQuery&, Monotonic> asked, bool live,
                       std::map<Instance, Counts>& counts);

  const Clock& clock_;
  Guarded<Book> book_;
};

}  // namespace croft::control::reports
