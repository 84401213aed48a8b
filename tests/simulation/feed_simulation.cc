#include "tests/simulation/feed_simulation.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "control/store/row_type.h"
#include "node/replica/record_keys.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "tests/simulation/estate.h"
#include "tests/simulation/simulated_node.h"
#include "tests/unit/control/store/fake_store.h"

namespace croft::simulation {
namespace {

using control::store::FakeStore;
using node::replica::Reader;
using std::chrono::milliseconds;

constexpr int kNodes = 3;
constexpr int kFaultySteps = 350;
constexpr int kQuietStepsMax = 4000;

using StatePtr = std::shared_ptr<const FakeStore::State>;

// What a replica at a state of the store must hold, compared without a copy of it.
std::string Compare(const Reader& reader, const FakeStore::State& state) {
  std::int64_t records = 0;
  std::int64_t names = 0;
  std::int64_t bindings = 0;
  for (const auto& [key, row] : state.rows) {
    const node::v1::RecordType type = control::store::RecordTypeOf(row.type);
    if (row.deleted || type == node::v1::RECORD_TYPE_UNSPECIFIED) {
      continue;
    }
    const auto found = reader.FindRecord({type, row.uid});
    if (!found.ok() || !found->has_value()) {
      return fmt::format("record {} {} is missing", static_cast<int>(type), row.uid);
    }
    if ((*found)->revision != row.revision || (*found)->body != row.body) {
      return fmt::format("record {} {} is of revision {}, not {}, or has another body",
                         static_cast<int>(type), row.uid, (*found)->revision, row.revision);
    }
    const auto keys = *node::replica::ReadRecordKeys(type, row.body);
    if (const auto uid = reader.FindUid(type, keys.name); !uid.ok() || *uid != row.uid) {
      return fmt::format("name {} does not lead to {}", keys.name, row.uid);
    }
    for (const std::string& binding : keys.bindings) {
      if (const auto uid = reader.FindBinding(binding); !uid.ok() || *uid != row.uid) {
        return fmt::format("a binding of {} does not lead to it", keys.name);
      }
    }
    ++records;
    ++names;
    bindings += static_cast<std::int64_t>(keys.bindings.size());
  }
  const Reader::Counts counts = *reader.Count();
  if (counts.records != records || counts.names != names || counts.bindings != bindings) {
    return fmt::format("{} records, {} names, {} bindings; expected {}, {}, {}", counts.records,
                       counts.names, counts.bindings, records, names, bindings);
  }
  return {};
}

class Run {
 public:
  Run(std::uint64_t seed, std::string scratch)
      : random_(seed),
        scratch_(std::move(scratch)),
        store_(seed, &clock_),
        estate_(store_, random_) {
    control::feed::FeedOptions options;
    options.batch_bytes_max = 700 + Draw(1500);
    options.chunk_records_max = static_cast<int>(2 + Draw(6));
    options.snapshots_at_once = static_cast<int>(1 + Draw(2));
    if (Draw(4) == 0) {
      options.delta_bytes_max = 3000;
    }
    transaction_bytes_max_ = Draw(3) == 0 ? 1000 : 64 << 20;
    feed_ = control::feed::MakeFeed(store_, clock_, options, nullptr);
    const std::vector<std::int64_t> uids = estate_.CreateFarm(kNodes + 1);
    for (int i = 0; i < kNodes; ++i) {
      AddNode(uids[static_cast<std::size_t>(i)]);
    }
    fresh_uid_ = uids.back();
    Remember();
  }

  std::string Execute() {
    estate_.CreateMany();
    Remember();
    for (int step = 0; step < kFaultySteps; ++step) {
      FaultyStep();
      if (std::string wrong = FindViolation(); !wrong.empty()) {
        return fmt::format("step {}: {}", step, wrong);
      }
    }
    return Settle();
  }

 private:
  std::uint64_t Draw(std::uint64_t bound) { return random_() % bound; }

  void AddNode(std::int64_t uid) {
    const std::string name = fmt::format("farms/main/nodes/n{}", nodes_.size());
    nodes_.push_back(std::make_unique<SimulatedNode>(
        control::feed::NodeIdentity{uid, name, kFarmUid},
        fmt::format("{}/node-{}", scratch_, nodes_.size()), transaction_bytes_max_));
  }

  // The store's state at its position, for later comparison, and a notification unless it gets
  // lost.
  void Remember() {
    StatePtr state = store_.Save();
    states_[{state->position.epoch(), state->position.revision(), state->position.tag()}] = state;
    if (Draw(10) != 0) {
      feed_->OnNotify();
    }
  }

  void FaultyStep() {
    const std::uint64_t what = Draw(100);
    SimulatedNode& node = *nodes_[Draw(nodes_.size())];
    if (what < 12) {
      estate_.Change();
      Remember();
    } else if (what < 70) {
      Flow(node, true);
    } else if (what < 86) {
      feed_->Step();
    } else if (what < 91) {
      clock_.Advance(milliseconds(Draw(2000)));
    } else if (what < 94) {
      node.Cut(*feed_);
    } else if (what < 96) {
      node.Restart(*feed_);
    } else {
      Disaster(Draw(40));
    }
  }

  // Rarer things.
  void Disaster(std::uint64_t what) {
    if (what < 8) {
      estate_.Damage();
      Remember();
    } else if (what < 11) {
      estate_.CreateMany();
      Remember();
    } else if (what < 16) {
      const StatePtr now = store_.Save();
      const auto back = static_cast<std::int64_t>(Draw(8));
      store_.PurgeThrough(std::max<std::int64_t>(0, now->position.revision() - back));
    } else if (what < 24) {
      saved_ = store_.Save();
    } else if (what < 30 && saved_ != nullptr) {
      // To a copy that lacks the latest changes; their revisions will be used again.
      store_.Restore(saved_);
      Remember();
    } else if (what < 31) {
      store_.StartNewEpoch();
      Remember();
    } else if (what < 36) {
      store_.SetAvailable(false);
      feed_->Step();
      store_.SetAvailable(true);
    }
  }

  // Something moves between a node and the feed.
  void Flow(SimulatedNode& node, bool faulty) {
    if (node.stream() != nullptr && node.stream()->closed) {
      node.Cut(*feed_);
      return;
    }
    if (node.stream() == nullptr) {
      node.Connect(*feed_);
      return;
    }
    if (Draw(3) == 0 && node.DeliverUp(*feed_)) {
      return;
    }
    if (faulty && Draw(4) == 0 && node.stream()->outstanding) {
      // Taken by the transport, not yet by the node: more may follow it.
      node.stream()->outstanding = false;
      feed_->OnSent(node.stream()->session);
    }
    Delivery delivery = Delivery::kOnce;
    if (faulty && Draw(40) == 0) {
      delivery = Draw(2) == 0 ? Delivery::kLost : Delivery::kTwice;
    }
    bool committed = false;
    node.DeliverDown(delivery, committed, *feed_);
    if (committed || Draw(12) == 0) {
      CheckConsistent(node);
    }
  }

  // A reader sees whole revisions only.
  void CheckConsistent(const SimulatedNode& node) {
    const node::v1::Position& at = node.position();
    if (node.unsettled() || at.epoch() == 0) {
      return;
    }
    const auto state = states_.find({at.epoch(), at.revision(), at.tag()});
    if (state == states_.end()) {
      violation_ =
          fmt::format("{} is at revision {} that never was", node.identity().node, at.revision());
      return;
    }
    if (std::string wrong = Compare(node.reader(), *state->second); !wrong.empty()) {
      violation_ = fmt::format("{} at revision {}: {}", node.identity().node, at.revision(), wrong);
    }
  }

  std::string FindViolation() const {
    if (!violation_.empty()) {
      return violation_;
    }
    for (const auto& node : nodes_) {
      if (!node->FindViolation().empty()) {
        return node->FindViolation();
      }
    }
    return {};
  }

  bool AllAt(const node::v1::Position& head) const {
    for (const auto& node : nodes_) {
      if (node->unsettled() || node->position().SerializeAsString() != head.SerializeAsString()) {
        return false;
      }
    }
    return true;
  }

  // Faults stop. A node may be ahead of a database that failed over, so changes go on until that
  // has caught up.
  std::string Settle() {
    estate_.RepairAll();
    std::int64_t highest = 0;
    for (const auto& [position, state] : states_) {
      highest = std::max(highest, state->position.revision());
    }
    while (store_.Save()->position.revision() <= highest) {
      estate_.Change();
    }
    estate_.RepairAll();
    Remember();
    AddNode(fresh_uid_);
    const StatePtr state = store_.Save();
    for (int step = 0; step < kQuietStepsMax && !AllAt(state->position); ++step) {
      for (const auto& node : nodes_) {
        Flow(*node, false);
      }
      if (feed_->Step() > milliseconds(0)) {
        clock_.Advance(milliseconds(100));
      }
      if (std::string wrong = FindViolation(); !wrong.empty()) {
        return "settling: " + wrong;
      }
    }
    for (const auto& node : nodes_) {
      if (std::string wrong = Compare(node->reader(), *state); !wrong.empty()) {
        return fmt::format("at the end {} is at {}, the store at {}: {}", node->identity().node,
                           node->position().revision(), state->position.revision(), wrong);
      }
    }
    return AllAt(state->position) ? std::string() : "at the end not all nodes are at the head";
  }

  std::mt19937_64 random_;
  const std::string scratch_;
  FakeClock clock_;
  FakeStore store_;
  Estate estate_;
  std::unique_ptr<control::feed::Feed> feed_;
  std::size_t transaction_bytes_max_ = 0;
  std::vector<std::unique_ptr<SimulatedNode>> nodes_;
  std::int64_t fresh_uid_ = 0;
  std::map<std::tuple<std::uint64_t, std::int64_t, std::uint64_t>, StatePtr> states_;
  StatePtr saved_;
  std::string violation_;
};

}  // namespace

std::string RunFeedSimulation(std::uint64_t seed, const std::string& scratch) {
  return Run(seed, scratch).Execute();
}

}  // namespace croft::simulation
