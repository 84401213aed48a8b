#include "node/agent/event_queue.h"

#include <fmt/format.h>

#include <utility>

#include "proto/base/log.h"

namespace croft::node::agent {

void EventQueue::Push(std::string_view kind, EventSubject subject, std::string message) {
  if (message.size() > kMessageBytesMax) {
    message.resize(kMessageBytesMax);
  }
  log::Warn("agent", kind,
            {{"site", std::to_string(subject.site_uid)},
             {"pool", std::to_string(subject.pool_uid)},
             {"err", message}});
  if (events_.size() >= kQueuedMax) {
    events_.pop_front();
    dropped_ += 1;
  }
  v1::EventReport& event = events_.emplace_back();
  event.set_time_unix_ms(UnixMillis(clock_.Now()));
  event.set_kind(kind.data(), kind.size());
  event.set_site_uid(subject.site_uid);
  event.set_pool_uid(subject.pool_uid);
  event.set_message(std::move(message));
}

std::optional<v1::EventReport> EventQueue::Take() {
  if (dropped_ > 0) {
    v1::EventReport lost;
    lost.set_time_unix_ms(UnixMillis(clock_.Now()));
    lost.set_kind("events_dropped");
    lost.set_message(fmt::format("{} older events were dropped while control was away", dropped_));
    dropped_ = 0;
    return lost;
  }
  if (events_.empty()) {
    return std::nullopt;
  }
  v1::EventReport event = std::move(events_.front());
  events_.pop_front();
  return event;
}

}  // namespace croft::node::agent
