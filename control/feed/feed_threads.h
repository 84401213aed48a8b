// The two threads of a feed: one runs its rounds, one waits for the store's notifications. Ends
// both when destroyed.
#pragma once

#include <thread>

#include "control/feed/feed.h"
#include "control/store/store.h"

namespace croft::control::feed {

class FeedThreads {
 public:
  // Both must outlive this.
  FeedThreads(Feed& feed, store::Store& store);

 private:
  std::jthread rounds_;
  std::jthread notifications_;
};

}  // namespace croft::control::feed
