// What to do about one pool's workers: desired (from the replica) against actual, each time anew.
// Pure: the supervisor executes. A worker lives
//   starting -> ready -> draining (the listener lets go) -> stopping (finishes, exits 0);  any ->
//   killed (stuck until its exit is told).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "croft/node/v1/channel.pb.h"
#include "croft/v1/pool.pb.h"

namespace croft::node::agent {

using TimePoint = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

// Workers that do not die when killed (a hung store can do that) are replaced, but never by more
// than this many.
inline constexpr int kStuckReplacementsMax = 2;

// A pool as the operator wants it, defaults filled in.
struct PoolSpec {
  std::int64_t uid = 0;
  std::string name;
  std::uint32_t identity = 0;
  bool started = true;
  bool always_running = false;
  std::int64_t queue_length = 1000;
  std::int64_t max_concurrent_requests = 256;
  int max_workers = 1;
  milliseconds ping_interval{30'000};
  milliseconds ping_response{90'000};
  milliseconds startup_limit{90'000};
  milliseconds shutdown_limit{90'000};

  bool operator==(const PoolSpec&) const = default;
};

PoolSpec MakePoolSpec(std::int64_t uid, const croft::v1::ApplicationPool& pool);

enum class WorkerPhase { kStarting, kReady, kDraining, kStopping, kKilled };

struct WorkerState {
  std::uint64_t process_id = 0;
  std::uint32_t uid = 0;
  std::string socket_path;
  // What its WorkerSetup said; a worker with another value than the pool's is replaced, overlapped.
  std::int64_t max_concurrent_requests = 0;
  WorkerPhase phase = WorkerPhase::kStarting;
  TimePoint phase_since;
  TimePoint started;
  // The listener has no request with it any more.
  bool drained = false;
  // Last pong, or the moment it became ready.
  TimePoint heard;
  // A ping that waits for its pong.
  std::optional<TimePoint> ping_sent;
};

struct PoolState {
  PoolSpec spec;
  // The pool is gone from the replica; its workers drain.
  bool removed = false;
  // A request asked for a worker; stays until the pool is stopped.
  bool demanded = false;
  // Starts asked of the launcher and not yet answered.
  int starts_pending = 0;
  // Failures in a row, and when the next start may be.
  int failures = 0;
  TimePoint not_before;
  std::vector<WorkerState> workers;
};

enum class KillReason { kStartup, kPing, kShutdown };

struct PoolPlan {
  struct Kill {
    std::uint64_t process_id = 0;
    KillReason reason = KillReason::kStartup;
  };
  int starts = 0;
  std::vector<std::uint64_t> pings;
  // Becomes kDraining: the listener is told.
  std::vector<std::uint64_t> drains;
  // Becomes kStopping: the worker is told.
  std::vector<std::uint64_t> stops;
  std::vector<Kill> kills;
  // When to plan again though nothing happened.
  std::optional<TimePoint> wake;
};

// `listening`: a listener runs, so a draining worker is let go by it; without one it is free at
// once.
PoolPlan PlanPool(const PoolState& pool, bool listening, TimePoint now);

// The pool as the listener must see it.
v1::PoolUpdate BuildPoolUpdate(const PoolState& pool);

// Wait before a process is started again after `failures` failures in a row: none, 50 ms, doubling
// to 30 s.
milliseconds RestartDelay(int failures);
// A process that lived this long ends a row of failures.
inline constexpr milliseconds kStableAfter{60'000};

}  // namespace croft::node::agent
