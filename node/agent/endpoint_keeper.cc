#include "node/agent/endpoint_keeper.h"

#include <algorithm>
#include <utility>

namespace croft::node::agent {

void EndpointKeeper::Adopt(const EndpointKey& key) {
  State& state = endpoints_[key];
  state.phase = Phase::kHandedOver;
  state.wanted = false;
}

void EndpointKeeper::SetWanted(const std::set<EndpointKey>& wanted) {
  std::set<EndpointKey> all = wanted;
  if (options_.health.port != 0) {
    all.insert(options_.health);
  }
  for (auto& [key, state] : endpoints_) {
    state.wanted = all.contains(key);
  }
  for (const EndpointKey& key : all) {
    endpoints_.try_emplace(key);
  }
}

void EndpointKeeper::HandOverAgain() {
  for (auto& [key, state] : endpoints_) {
    if (state.wanted && state.phase == Phase::kHandedOver) {
      state.phase = Phase::kWanted;
    }
  }
}

TimePoint EndpointKeeper::Sync(TimePoint now) {
  TimePoint next = TimePoint::max();
  for (auto& [key, state] : endpoints_) {
    SyncOne(key, state, now);
    if (state.phase == Phase::kFailed) {
      next = std::min(next, state.retry_at);
    }
  }
  std::erase_if(endpoints_, [](const auto& entry) {
    return !entry.second.wanted && entry.second.phase == Phase::kWanted;
  });
  return next;
}

void EndpointKeeper::SyncOne(const EndpointKey& key, State& state, TimePoint now) {
  if (!state.wanted) {
    if (state.phase == Phase::kHandedOver) {
      Close(key);
    }
    if (state.phase != Phase::kOpening) {
      state.phase = Phase::kWanted;  // Sync forgets it
    }
    return;
  }
  const bool due =
      state.phase == Phase::kWanted || (state.phase == Phase::kFailed && now >= state.retry_at);
  if (!due) {
    return;
  }
  state.phase = Phase::kOpening;
  launcher_.OpenEndpoint(key.ip, key.port, options_.sockets,
                         [this, key](absl::StatusOr<std::vector<UniqueFd>> sockets) {
                           OnOpened(key, std::move(sockets));
                         });
}

void EndpointKeeper::OnOpened(const EndpointKey& key,
                              absl::StatusOr<std::vector<UniqueFd>> sockets) {
  State& state = endpoints_[key];
  const TimePoint now = clock_.Monotonic();
  if (!sockets.ok()) {
    state.phase = Phase::kFailed;
    state.retry_at = now + std::max(RestartDelay(state.failures), kRetryMin);
    state.error = fmt::format("cannot listen on {}: {}", FormatEndpoint(key),
                              std::string(sockets.status().message()));
    if (state.failures++ == 0) {
      events_.Push("endpoint_failed", {}, state.error);
    }
    hooks_.on_answer();
    return;
  }
  v1::AgentToListener message;
  message.mutable_endpoint()->set_ip(key.ip);
  message.mutable_endpoint()->set_port(key.port);
  message.mutable_endpoint()->set_health(options_.health.port != 0 && key == options_.health);
  state.failures = 0;
  state.error.clear();
  if (hooks_.send(message, *std::move(sockets))) {
    state.phase = Phase::kHandedOver;
  } else {
    state.phase = Phase::kFailed;
    state.retry_at = now + kRetryMin;
  }
  hooks_.on_answer();
}

void EndpointKeeper::Close(const EndpointKey& key) {
  v1::AgentToListener message;
  message.mutable_endpoint()->set_ip(key.ip);
  message.mutable_endpoint()->set_port(key.port);
  message.mutable_endpoint()->set_closed(true);
  hooks_.send(message, {});
  launcher_.CloseEndpoint(key.ip, key.port);
}

std::vector<std::string> EndpointKeeper::List() const {
  std::vector<std::string> open;
  for (const auto& [key, state] : endpoints_) {
    if (state.phase == Phase::kHandedOver) {
      open.push_back(FormatEndpoint(key));
    }
  }
  return open;
}

std::vector<EndpointKeeper::Missing> EndpointKeeper::ListMissing() const {
  std::vector<Missing> missing;
  for (const auto& [key, state] : endpoints_) {
    if (state.wanted && !state.error.empty()) {
      missing.push_back({key, state.error});
    }
  }
  return missing;
}

bool EndpointKeeper::Settled() const {
  return std::ranges::all_of(endpoints_, [](const auto& entry) {
    const State& state = entry.second;
    return !state.wanted || state.phase == Phase::kHandedOver || !state.error.empty();
  });
}

}  // namespace croft::node::agent
