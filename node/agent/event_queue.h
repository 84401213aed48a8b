// Events on their way to control: kept while control is away, bounded, the oldest dropped and the
// loss told. Supervision thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "croft/node/v1/feed.pb.h"
#include "proto/base/clock.h"

namespace croft::node::agent {

// What an event is about; 0 where it concerns none.
struct EventSubject {
  std::int64_t site_uid = 0;
  std::int64_t pool_uid = 0;
};

class EventQueue {
 public:
  static constexpr std::size_t kQueuedMax = 1000;
  static constexpr std::size_t kMessageBytesMax = 1024;

  explicit EventQueue(const Clock& clock) : clock_(clock) {}

  // `kind`: "worker_crashed", "worker_ping_failed", "worker_start_failed",
  // "worker_shutdown_failed", "listener_crashed", "endpoint_failed", "replica_damaged", or what a
  // listener or worker reports, such as "url_refused". Also written to the log.
  void Push(std::string_view kind, EventSubject subject, std::string message);
  // The oldest; nullopt if there is none.
  std::optional<v1::EventReport> Take();
  bool empty() const { return events_.empty(); }

 private:
  const Clock& clock_;
  std::deque<v1::EventReport> events_;
  std::int64_t dropped_ = 0;
};

}  // namespace croft::node::agent
