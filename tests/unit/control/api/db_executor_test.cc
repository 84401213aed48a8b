#include "control/api/db_executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace croft::control::api {
namespace {

TEST(DbExecutor, RefusesWorkPastItsQueueAndRunsWhatItTook) {
  std::promise<void> started;
  std::promise<void> released;
  std::atomic<int> ran{0};
  {
    DbExecutor executor({.threads = 1, .queued_max = 2});
    ASSERT_TRUE(executor.TryPush([&] {
      started.set_value();
      released.get_future().wait();
      ++ran;
    }));
    started.get_future().wait();
    EXPECT_TRUE(executor.TryPush([&] { ++ran; }));
    EXPECT_TRUE(executor.TryPush([&] { ++ran; }));
    EXPECT_FALSE(executor.TryPush([&] { ++ran; }));
    released.set_value();
  }
  EXPECT_EQ(ran, 3);
}

}  // namespace
}  // namespace croft::control::api
