// Keeps one listener running and in step: starts and adopts it, hands it sockets, pools and what
// changed in the replica, pings it. Every level is sent again to a new listener; a change goes out
// one at a time, what comes meanwhile is merged. Supervision thread only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "node/agent/endpoint_keeper.h"
#include "node/agent/pool_supervisor.h"
#include "node/agent/replica_news.h"

namespace croft::node::agent {

class ListenerSupervisor {
 public:
  struct Options {
    std::string log_path;
    std::uint32_t loops = 1;
    EndpointKey health;  // port 0: none
  };
  struct Hooks {
    // The listener answers from `position`.
    std::function<void(const v1::Position&)> on_served;
    // It met a damaged replica.
    std::function<void(const std::string& reason)> on_damaged;
    // An endpoint was opened, or could not be: ListMissing() may say something else.
    std::function<void()> on_endpoint;
  };
  static constexpr milliseconds kPingInterval{5'000};
  // Longer than any stall of a loaded machine, short enough for a stopped reader not to grow the
  // replica for long.
  static constexpr milliseconds kPingResponse{30'000};
  static constexpr milliseconds kStartupLimit{30'000};

  ListenerSupervisor(SupervisionTools tools, PoolSupervisor& pools, Options options, Hooks hooks);
  ~ListenerSupervisor();

  // Facts that a new listener is told first. Start begins the work; nothing runs before.
  void Start(bool separate_identities, const std::string& node_name,
             const std::string& replica_path, const v1::Position& position);
  // A listener that outlived the agent before; before Start.
  void Adopt(StartedProcess process);

  // One that the launcher holds already; closed unless it is wanted. Before Start.
  void AdoptEndpoint(const EndpointKey& key);
  void SetEndpoints(const std::set<EndpointKey>& endpoints);
  void SetDraining(bool draining);
  void OnPoolChanged(std::int64_t pool_uid);
  void OnReplicaChanged(const ReplicaNews& news);
  // Another generation is in service.
  void SetReplica(const std::string& path, const v1::Position& position);
  // True if the process was the listener.
  bool OnExited(const v1::ProcessExited& exited);

  // "0.0.0.0:80" of every endpoint that is open.
  std::vector<std::string> ListEndpoints() const { return endpoints_.List(); }
  // See EndpointKeeper.
  std::vector<EndpointKeeper::Missing> ListMissing() const { return endpoints_.ListMissing(); }
  bool EndpointsSettled() const { return endpoints_.Settled(); }

 private:
  enum class Phase { kNone, kStarting, kWaitsForReady, kReady, kKilled };
  void Run();
  void StartListener();
  void Attach(StartedProcess process, bool adopted);
  void SendSetup();
  void SendLevels();
  void Flush();
  void FlushPools();
  void FlushChange();
  void OnMessage(const link::Received& received);
  void CheckPing(TimePoint now);
  void Kill(const std::string& why);
  void ArmTimer(TimePoint when);
  bool IsUp() const { return phase_ == Phase::kWaitsForReady || phase_ == Phase::kReady; }

  // Constant after construction.
  const SupervisionTools tools_;
  PoolSupervisor& pools_;
  const Options options_;
  const Hooks hooks_;

  // Constant after Start.
  bool begun_ = false;
  bool separate_identities_ = false;
  std::string node_name_;

  // Supervision thread only.
  std::string replica_path_;
  v1::Position position_;
  boost::asio::steady_timer timer_;
  Phase phase_ = Phase::kNone;
  v1::Process process_;
  std::shared_ptr<MessageChannel> channel_;
  TimePoint phase_since_;
  TimePoint not_before_;
  int failures_ = 0;
  std::uint64_t ping_sequence_ = 0;
  TimePoint heard_;
  std::optional<TimePoint> ping_sent_;
  EndpointKeeper endpoints_;
  std::set<std::int64_t> changed_pools_;
  bool draining_ = false;
  // What the listener has not been told yet, and whether it still works on what it was told.
  std::optional<ReplicaNews> news_;
  bool tell_path_ = false;
  bool awaits_served_ = false;
};

}  // namespace croft::node::agent
