#include "control/feed/feed_threads.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

#include "proto/base/log.h"
#include "proto/base/retry.h"

namespace croft::control::feed {
namespace {

using std::chrono::milliseconds;

// How long a stop may have to wait.
constexpr milliseconds kWaitMax{250};

void RunRounds(const std::stop_token& stop, Feed& feed) {
  ::pthread_setname_np(::pthread_self(), "feed");
  while (!stop.stop_requested()) {
    feed.WaitForWork(std::min(feed.Step(), kWaitMax));
  }
}

// Ends early when told to stop.
void Pause(const std::stop_token& stop, milliseconds time) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  stopped.wait_for(lock, stop, time, [] { return false; });
}

void RunNotifications(const std::stop_token& stop, Feed& feed, store::Store& store) {
  ::pthread_setname_np(::pthread_self(), "feed-notify");
  Backoff backoff({.first = milliseconds(50), .most = milliseconds(2000)});
  while (!stop.stop_requested()) {
    const auto notified = store.WaitForNotify(kWaitMax);
    if (notified.ok()) {
      backoff.Reset();
      if (*notified) {
        feed.OnNotify();
      }
      continue;
    }
    log::Warn("feed", "no notifications from the store",
              {{"err", std::string(notified.status().message())}});
    // What was missed meanwhile is found by looking.
    feed.OnNotify();
    Pause(stop, backoff.Next());
  }
}

}  // namespace

FeedThreads::FeedThreads(Feed& feed, store::Store& store)
    : rounds_([&feed](const std::stop_token& stop) { RunRounds(stop, feed); }),
      notifications_(
          [&feed, &store](const std::stop_token& stop) { RunNotifications(stop, feed, store); }) {}

}  // namespace croft::control::feed
