#include "node/listener/loop_set.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "proto/base/error.h"
#include "proto/base/log.h"
#include "proto/contract/binding_rules.h"

namespace croft::node::listener {
namespace {

constexpr unsigned kLoopsMax = 256;

counters::Row NodeRow(counters::CounterMemory& counters) {
  return counters.GetRow(counters::InstanceType::kNode, 0);
}

}  // namespace

absl::StatusOr<std::unique_ptr<LoopSet>> LoopSet::Start(const v1::ListenerSetup& setup,
                                                        const Dependencies& dependencies) {
  auto reader = replica::Reader::Open(setup.replica_path());
  if (!reader.ok()) {
    return reader.status();
  }
  return std::make_unique<LoopSet>(Key(), setup, dependencies, *std::move(reader));
}

LoopSet::LoopSet(Key, const v1::ListenerSetup& setup, const Dependencies& dependencies,
                 const std::shared_ptr<const replica::Reader>& reader)
    : logs_(setup.log_path(), NodeRow(dependencies.counters)),
      shared_{
          .node_name = setup.node_name(),
          .loops = std::clamp(setup.loops(), 1u, kLoopsMax),
          .peer = {.checked = setup.separate_identities(),
                   .launcher_uid = dependencies.launcher_uid},
          .counters = dependencies.counters,
          .node = NodeRow(dependencies.counters),
          .outbox = dependencies.outbox,
          .logs = logs_,
          .pools = PoolDirectory(std::clamp(setup.loops(), 1u, kLoopsMax), dependencies.counters),
          .guard = {},
          .draining = false,
          .wake_pool = [this](unsigned loop, std::int64_t pool_uid) {
            loops_[loop]->Post([pool_uid](Loop& other) { other.WakePool(pool_uid); });
          }} {
  for (unsigned i = 0; i < shared_.loops; ++i) {
    loops_.push_back(std::make_unique<Loop>(i, shared_, reader));
  }
  running_ = shared_.loops;
  for (unsigned i = 0; i < shared_.loops; ++i) {
    threads_.emplace_back([this, i] {
      pthread_setname_np(pthread_self(), ("loop-" + std::to_string(i)).c_str());
      loops_[i]->Run();
      const std::lock_guard lock(mutex_);
      --running_;
      finished_.notify_one();
    });
  }
}

LoopSet::~LoopSet() { Close(std::chrono::milliseconds(0)); }

absl::Status LoopSet::AddEndpoint(const v1::EndpointSockets& endpoint,
                                  std::vector<UniqueFd> sockets) {
  const auto port = static_cast<std::uint16_t>(endpoint.port());
  const std::pair<std::string, std::uint16_t> key(endpoint.ip(), port);
  if (endpoint.closed()) {
    endpoints_.erase(key);
    for (const auto& loop : loops_) {
      loop->Post([ip = endpoint.ip(), port](Loop& here) { here.StopListening(ip, port); });
    }
    return absl::OkStatus();
  }
  const bool any = endpoint.ip() == "0.0.0.0" || endpoint.ip() == "::";
  const auto bytes = contract::ParseIp(any ? "*" : endpoint.ip());
  if (!bytes.ok()) {
    return bytes.status();
  }
  if (sockets.empty()) {
    return Error(absl::StatusCode::kInvalidArgument, "endpoint {}:{} came without sockets",
                 endpoint.ip(), endpoint.port());
  }
  if (!endpoints_.insert(key).second) {
    return absl::OkStatus();  // an agent that adopts says it again
  }
  const LocalAddress local{endpoint.ip(), *bytes, port, endpoint.health()};
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    loops_[i % loops_.size()]->Post([local, socket = std::move(sockets[i])](Loop& here) mutable {
      here.Listen(std::move(socket), local);
    });
  }
  return absl::OkStatus();
}

absl::Status LoopSet::OnReplicaChanged(const v1::ReplicaChanged& change) {
  std::shared_ptr<const replica::Reader> reader;
  if (!change.replica_path().empty()) {
    auto opened = replica::Reader::Open(change.replica_path());
    if (!opened.ok()) {
      return opened.status();
    }
    reader = *std::move(opened);
  }
  const auto shared_change = std::make_shared<const v1::ReplicaChanged>(change);
  const auto left = std::make_shared<std::atomic<std::size_t>>(loops_.size());
  for (const auto& loop : loops_) {
    loop->Post([this, shared_change, reader, left](Loop& here) {
      if (reader != nullptr) {
        here.SetReader(reader);
      } else {
        here.DropKeys(*shared_change);
      }
      if (left->fetch_sub(1) == 1 && shared_change->has_position()) {
        shared_.outbox.TellServed(shared_change->position());
      }
    });
  }
  return absl::OkStatus();
}

void LoopSet::OnPool(const v1::PoolUpdate& update) {
  const WorkerStates workers = shared_.pools.Apply(update);
  for (const auto& loop : loops_) {
    loop->Post([uid = update.pool_uid(), workers](Loop& here) { here.ApplyPool(uid, workers); });
  }
}

void LoopSet::Close(std::chrono::milliseconds limit) {
  for (const auto& loop : loops_) {
    loop->Post([](Loop& here) { here.Close(); });
  }
  {
    std::unique_lock lock(mutex_);
    finished_.wait_for(lock, limit, [this] { return running_ == 0; });
  }
  for (const auto& loop : loops_) {
    loop->Post([](Loop& here) { here.Abort(); });
  }
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
}

}  // namespace croft::node::listener
