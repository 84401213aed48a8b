#include "node/worker/store/store_threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <memory>
#include <thread>
#include <utility>

#include "proto/base/clock.h"

namespace croft::node::worker::store {
namespace {

using namespace std::chrono_literals;
using Kind = StoreThreads::Kind;

class CallJob final : public Job {
 public:
  explicit CallJob(std::function<void()> call) : call_(std::move(call)) {}
  void Run() noexcept override { call_(); }

 private:
  std::function<void()> call_;
};

std::shared_ptr<Job> Call(std::function<void()> call) {
  return std::make_shared<CallJob>(std::move(call));
}

bool Eventually(const std::function<bool()>& holds) {
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

// What the threads refer to; they may outlive a test, so it does too.
struct Scene {
  FakeClock clock;
  std::atomic<bool> stuck{true};
  std::atomic<int> started{0};
  std::atomic<int> finished{0};
  std::shared_ptr<StoreThreads> threads;

  std::shared_ptr<Job> Hanging() {
    return Call([this] {
      ++started;
      while (stuck) {
        std::this_thread::sleep_for(1ms);
      }
      ++finished;
    });
  }
  std::shared_ptr<Job> Quick() {
    return Call([this] { ++finished; });
  }
};

Scene& NewScene() {
  // Never destroyed: the threads of a store are not waited for, not even at exit.
  static auto& scenes = *std::make_unique<std::vector<std::unique_ptr<Scene>>>().release();
  scenes.push_back(std::make_unique<Scene>());
  Scene& scene = *scenes.back();
  scene.threads = std::make_shared<StoreThreads>("test",
                                                 StoreThreads::Limits{.threads_max = 2,
                                                                      .threads_total_max = 4,
                                                                      .queue_max = 3,
                                                                      .stall = 1000ms,
                                                                      .probe_interval = 1000ms,
                                                                      .idle = 30'000ms},
                                                 scene.clock, counters::Row());
  return scene;
}

TEST(StoreThreads, RunsJobs) {
  Scene& scene = NewScene();
  for (int i = 1; i <= 100; ++i) {
    ASSERT_TRUE(scene.threads->Submit(scene.Quick(), Kind::kFollowUp));
  }
  EXPECT_TRUE(Eventually([&] { return scene.finished == 100; }));
}

TEST(StoreThreads, RefusesRequestsBeyondItsQueueButNotFollowUps) {
  Scene& scene = NewScene();
  EXPECT_TRUE(scene.threads->Submit(scene.Hanging(), Kind::kRequest));
  EXPECT_TRUE(scene.threads->Submit(scene.Hanging(), Kind::kRequest));
  ASSERT_TRUE(Eventually([&] { return scene.started == 2; }));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(scene.threads->Submit(scene.Quick(), Kind::kRequest));
  }
  EXPECT_FALSE(scene.threads->Submit(scene.Quick(), Kind::kRequest));
  EXPECT_TRUE(scene.threads->Submit(scene.Quick(), Kind::kFollowUp));
  scene.stuck = false;
  EXPECT_TRUE(Eventually([&] { return scene.finished == 6; }));
}

TEST(StoreThreads, IsHungWhenNothingFinishesAndRefusesAtOnce) {
  Scene& scene = NewScene();
  EXPECT_TRUE(scene.threads->Submit(scene.Hanging(), Kind::kRequest));
  ASSERT_TRUE(Eventually([&] { return scene.started == 1; }));
  EXPECT_FALSE(scene.threads->IsHung());
  scene.clock.Advance(1001ms);
  EXPECT_TRUE(scene.threads->IsHung());
  EXPECT_FALSE(scene.threads->Submit(scene.Quick(), Kind::kRequest));
  scene.stuck = false;
  EXPECT_TRUE(Eventually([&] { return !scene.threads->IsHung(); }));
  EXPECT_TRUE(scene.threads->Submit(scene.Quick(), Kind::kRequest));
  EXPECT_TRUE(Eventually([&] { return scene.finished == 2; }));
}

TEST(StoreThreads, AProbeHealsItThoughTheOldThreadsHangForEver) {
  Scene& scene = NewScene();
  EXPECT_TRUE(scene.threads->Submit(scene.Hanging(), Kind::kRequest));
  EXPECT_TRUE(scene.threads->Submit(scene.Hanging(), Kind::kRequest));
  ASSERT_TRUE(Eventually([&] { return scene.started == 2; }));
  scene.clock.Advance(1001ms);
  ASSERT_TRUE(scene.threads->IsHung());
  scene.clock.Advance(1001ms);
  EXPECT_TRUE(scene.threads->Submit(scene.Quick(), Kind::kRequest));
  EXPECT_TRUE(Eventually([&] { return !scene.threads->IsHung(); }));
  EXPECT_TRUE(scene.threads->Submit(scene.Quick(), Kind::kRequest));
  EXPECT_TRUE(Eventually([&] { return scene.finished == 2; }));
  scene.stuck = false;
  EXPECT_TRUE(Eventually([&] { return scene.finished == 4; }));
}

TEST(StoreThreads, LetsOneProbeThroughPerInterval) {
  Scene& scene = NewScene();
  EXPECT_TRUE(scene.threads->Submit(scene.Hanging(), Kind::kRequest));
  ASSERT_TRUE(Eventually([&] { return scene.started == 1; }));
  scene.clock.Advance(1001ms);
  ASSERT_TRUE(scene.threads->IsHung());
  scene.clock.Advance(1001ms);
  EXPECT_TRUE(scene.threads->Submit(scene.Hanging(), Kind::kRequest));
  EXPECT_FALSE(scene.threads->Submit(scene.Hanging(), Kind::kRequest));
  scene.clock.Advance(1001ms);  // the second probe waits twice as long
  EXPECT_TRUE(scene.threads->Submit(scene.Hanging(), Kind::kRequest));
  scene.clock.Advance(1001ms);
  EXPECT_FALSE(scene.threads->Submit(scene.Hanging(), Kind::kRequest));
  scene.stuck = false;
  EXPECT_TRUE(Eventually([&] { return scene.finished == 3; }));
}

}  // namespace
}  // namespace croft::node::worker::store
