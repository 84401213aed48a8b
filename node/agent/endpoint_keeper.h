// Keeps the listener in possession of the sockets it should have: asks the launcher for them, hands
// them over, closes what no binding names any more, tries again what could not be bound.
// Supervision thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "croft/node/v1/channel.pb.h"
#include "node/agent/endpoint_key.h"
#include "node/agent/event_queue.h"
#include "node/agent/launcher_client.h"
#include "node/agent/pool_plan.h"
#include "proto/base/clock.h"

namespace croft::node::agent {

class EndpointKeeper {
 public:
  struct Options {
    std::uint32_t sockets = 1;  // per endpoint, one for each of the listener's loops
    EndpointKey health;         // port 0: none
  };
  struct Hooks {
    // False if the listener cannot take it now.
    std::function<bool(const v1::AgentToListener&, std::vector<UniqueFd>)> send;
    // The launcher answered: Sync again.
    std::function<void()> on_answer;
  };
  static constexpr milliseconds kRetryMin{1'000};

  EndpointKeeper(LauncherClient& launcher, EventQueue& events, const Clock& clock, Options options,
                 Hooks hooks)
      : launcher_(launcher),
        events_(events),
        clock_(clock),
        options_(std::move(options)),
        hooks_(std::move(hooks)) {}

  // Open since before this agent; closed unless it is wanted.
  void Adopt(const EndpointKey& key);
  // The health URL's comes by itself.
  void SetWanted(const std::set<EndpointKey>& wanted);
  // A new listener has none of them.
  void HandOverAgain();
  // Does what is to be done; returns when to come back at the latest. REQUIRES: a listener runs.
  TimePoint Sync(TimePoint now);
  // "0.0.0.0:80" of every endpoint that the listener has.
  std::vector<std::string> List() const;
  struct Missing {
    EndpointKey key;
    std::string reason;
  };
  // What the listener should have and cannot: the last try failed.
  std::vector<Missing> ListMissing() const;
  // Every endpoint that is wanted is with the listener or missing.
  bool Settled() const;

 private:
  enum class Phase { kWanted, kOpening, kHandedOver, kFailed };
  struct State {
    Phase phase = Phase::kWanted;
    bool wanted = true;
    int failures = 0;
    TimePoint retry_at;
    std::string error;  // of the last try; empty after a good one
  };
  void SyncOne(const EndpointKey& key, State& state, TimePoint now);
  void OnOpened(const EndpointKey& key, absl::StatusOr<std::vector<UniqueFd>> sockets);
  void Close(const EndpointKey& key);

  LauncherClient& launcher_;
  EventQueue& events_;
  const Clock& clock_;
  const Options options_;
  const Hooks hooks_;
  std::map<EndpointKey, State> endpoints_;
};

}  // namespace croft::node::agent
