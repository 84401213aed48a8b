#include "node/agent/event_queue.h"

#include <gtest/gtest.h>

namespace croft::node::agent {
namespace {

TEST(EventQueue, GivesEventsBackInOrder) {
  const FakeClock clock;
  EventQueue events(clock);
  events.Push("worker_crashed", {.site_uid = 0, .pool_uid = 7}, "first");
  events.Push("url_refused", {.site_uid = 4, .pool_uid = 7}, "second");
  const auto first = events.Take();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->kind(), "worker_crashed");
  EXPECT_EQ(first->pool_uid(), 7);
  EXPECT_EQ(first->time_unix_ms(), UnixMillis(clock.Now()));
  EXPECT_EQ(events.Take()->message(), "second");
  EXPECT_FALSE(events.Take().has_value());
}

TEST(EventQueue, DropsTheOldestAndTellsHowMany) {
  const FakeClock clock;
  EventQueue events(clock);
  for (std::size_t i = 0; i < EventQueue::kQueuedMax + 3; ++i) {
    events.Push("worker_crashed", {}, std::to_string(i));
  }
  const auto lost = events.Take();
  EXPECT_EQ(lost->kind(), "events_dropped");
  EXPECT_EQ(lost->message().substr(0, 2), "3 ");
  EXPECT_EQ(events.Take()->message(), "3");
}

TEST(EventQueue, ShortensWhatAWorkerSays) {
  const FakeClock clock;
  EventQueue events(clock);
  events.Push("worker_event", {}, std::string(100'000, 'x'));
  EXPECT_EQ(events.Take()->message().size(), EventQueue::kMessageBytesMax);
}

}  // namespace
}  // namespace croft::node::agent
