#include "control/reports/event_writer.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "proto/base/log.h"
#include "proto/base/retry.h"

namespace croft::control::reports {
namespace {

constexpr std::size_t kTextBytesMax = 2000;

// A node's text, bounded and fit for a column.
std::string Bounded(const std::string& text) {
  std::string kept = text.substr(0, kTextBytesMax);
  std::erase(kept, '\0');
  return kept;
}

}  // namespace

EventWriter::EventWriter(store::Store& store, InstanceNames& names)
    : store_(store), names_(names), thread_([this](const std::stop_token& stop) { Run(stop); }) {}

EventWriter::~EventWriter() = default;

void EventWriter::PushOrDrop(const Reporter& node, const node::v1::EventReport& event) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= kEventsQueuedMax) {
      ++dropped_;
      return;
    }
    queue_.push_back({node, event});
  }
  filled_.notify_one();
}

std::uint64_t EventWriter::dropped() {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

std::vector<EventWriter::Queued> EventWriter::TakeBatch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  filled_.wait(lock, stop, [this] { return !queue_.empty(); });
  std::vector<Queued> batch;
  while (!queue_.empty() && batch.size() < kEventsPerBatch) {
    batch.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return batch;
}

v1::Event EventWriter::MakeEvent(const Queued& queued) {
  v1::Event event;
  const std::int64_t millis = queued.event.time_unix_ms();
  event.mutable_time()->set_seconds(millis / 1000);
  event.mutable_time()->set_nanos(static_cast<std::int32_t>(millis % 1000) * 1'000'000);
  event.set_node(queued.node.node);
  event.set_kind(Bounded(queued.event.kind()));
  event.set_message(Bounded(queued.event.message()));
  const auto name_of = [this](store::ResourceType type, std::int64_t uid) {
    const auto names =
        uid == 0 ? absl::StatusOr<std::map<std::int64_t, Named>>() : names_.Find(type, {uid});
    return names.ok() && names->contains(uid) ? names->at(uid).name : std::string();
  };
  event.set_site(name_of(store::ResourceType::kSite, queued.event.site_uid()));
  event.set_pool(name_of(store::ResourceType::kPool, queued.event.pool_uid()));
  return event;
}

void EventWriter::Write(const std::vector<Queued>& batch, const std::stop_token& stop) {
  std::vector<v1::Event> events;
  events.reserve(batch.size());
  for (const Queued& queued : batch) {
    events.push_back(MakeEvent(queued));
  }
  Backoff backoff({});
  for (;;) {
    const absl::Status status = store_.InsertEvents(events);
    if (status.ok()) {
      return;
    }
    if (!absl::IsUnavailable(status) || stop.stop_requested()) {
      log::Warn("reports", "events of nodes were not written",
                {{"count", std::to_string(events.size())}, {"err", status.ToString()}});
      return;
    }
    std::unique_lock lock(mutex_);
    filled_.wait_for(lock, stop, backoff.Next(), [] { return false; });
  }
}

void EventWriter::Run(const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "events");
  for (;;) {
    const std::vector<Queued> batch = TakeBatch(stop);
    if (batch.empty()) {
      return;
    }
    Write(batch, stop);
  }
}

}  // namespace croft::control::reports
