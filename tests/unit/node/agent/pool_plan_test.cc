#include "node/agent/pool_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace croft::node::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const TimePoint kNow = TimePoint(std::chrono::hours(1));

PoolState APool() {
  PoolState pool;
  pool.spec.uid = 7;
  pool.spec.name = "farms/main/pools/php";
  pool.demanded = true;
  return pool;
}

WorkerState AWorker(std::uint64_t id, WorkerPhase phase, TimePoint since = kNow) {
  WorkerState worker;
  worker.process_id = id;
  worker.phase = phase;
  worker.phase_since = worker.started = worker.heard = since;
  worker.max_concurrent_requests = 256;
  worker.socket_path = "/run/w/" + std::to_string(id) + ".sock";
  return worker;
}

std::vector<std::uint64_t> Killed(const PoolPlan& plan) {
  std::vector<std::uint64_t> killed;
  for (const PoolPlan::Kill& kill : plan.kills) {
    killed.push_back(kill.process_id);
  }
  return killed;
}

TEST(PoolPlan, StartsWorkersOnlyWhenTheyAreNeeded) {
  struct Case {
    const char* what;
    bool started, always, demanded, removed;
    int starts;
  };
  for (const Case& c :
       {Case{"on demand, no request yet", true, false, false, false, 0},
        Case{"on demand, asked for", true, false, true, false, 2},
        Case{"always running", true, true, false, false, 2},
        Case{"stopped", false, true, true, false, 0}, Case{"removed", true, true, true, true, 0}}) {
    PoolState pool = APool();
    pool.spec.max_workers = 2;
    pool.spec.started = c.started;
    pool.spec.always_running = c.always;
    pool.demanded = c.demanded;
    pool.removed = c.removed;
    EXPECT_EQ(PlanPool(pool, true, kNow).starts, c.starts) << c.what;
  }
}

TEST(PoolPlan, CountsWorkersThatAreOnTheirWay) {
  PoolState pool = APool();
  pool.spec.max_workers = 3;
  pool.starts_pending = 1;
  pool.workers = {AWorker(1, WorkerPhase::kStarting)};
  EXPECT_EQ(PlanPool(pool, true, kNow).starts, 1);
}

TEST(PoolPlan, WaitsForTheBackOffAndComesBackThen) {
  PoolState pool = APool();
  pool.not_before = kNow + milliseconds(400);
  const PoolPlan early = PlanPool(pool, true, kNow);
  EXPECT_EQ(early.starts, 0);
  EXPECT_EQ(early.wake, pool.not_before);
  EXPECT_EQ(PlanPool(pool, true, pool.not_before).starts, 1);
}

TEST(PoolPlan, KillsAWorkerThatIsNotReadyInTime) {
  PoolState pool = APool();
  pool.workers = {AWorker(1, WorkerPhase::kStarting, kNow - pool.spec.startup_limit)};
  EXPECT_THAT(Killed(PlanPool(pool, true, kNow)), ElementsAre(1));
}

TEST(PoolPlan, PingsWhenDueAndKillsOnALateReply) {
  PoolState pool = APool();
  pool.workers = {AWorker(1, WorkerPhase::kReady, kNow - pool.spec.ping_interval)};
  EXPECT_THAT(PlanPool(pool, true, kNow).pings, ElementsAre(1));

  pool.workers[0].ping_sent = kNow;
  const PoolPlan waiting = PlanPool(pool, true, kNow + milliseconds(1));
  EXPECT_THAT(waiting.pings, IsEmpty());
  EXPECT_EQ(waiting.wake, kNow + pool.spec.ping_response);
  EXPECT_THAT(Killed(PlanPool(pool, true, kNow + pool.spec.ping_response)), ElementsAre(1));
}

TEST(PoolPlan, DrainsAllWorkersOfAStoppedPool) {
  PoolState pool = APool();
  pool.spec.started = false;
  pool.workers = {AWorker(1, WorkerPhase::kReady), AWorker(2, WorkerPhase::kStarting)};
  const PoolPlan plan = PlanPool(pool, true, kNow);
  EXPECT_THAT(plan.drains, ElementsAre(1));
  EXPECT_THAT(plan.stops, ElementsAre(2));
}

TEST(PoolPlan, StopsADrainingWorkerOnceTheListenerLetItGo) {
  PoolState pool = APool();
  pool.spec.started = false;
  pool.workers = {AWorker(1, WorkerPhase::kDraining)};
  EXPECT_THAT(PlanPool(pool, true, kNow).stops, IsEmpty());
  EXPECT_THAT(PlanPool(pool, /*listening=*/false, kNow).stops, ElementsAre(1));
  pool.workers[0].drained = true;
  EXPECT_THAT(PlanPool(pool, true, kNow).stops, ElementsAre(1));
}

TEST(PoolPlan, KillsAWorkerThatDrainsTooLong) {
  PoolState pool = APool();
  const TimePoint before = kNow - pool.spec.shutdown_limit;
  pool.workers = {AWorker(1, WorkerPhase::kDraining, before),
                  AWorker(2, WorkerPhase::kStopping, before)};
  EXPECT_THAT(Killed(PlanPool(pool, true, kNow)), ElementsAre(1, 2));
}

TEST(PoolPlan, ReplacesWorkersOfOldSettingsOverlapped) {
  PoolState pool = APool();
  pool.spec.max_concurrent_requests = 512;
  pool.workers = {AWorker(1, WorkerPhase::kReady)};
  const PoolPlan first = PlanPool(pool, true, kNow);
  EXPECT_EQ(first.starts, 1);
  EXPECT_THAT(first.drains, IsEmpty());

  pool.workers.push_back(AWorker(2, WorkerPhase::kReady));
  pool.workers[1].max_concurrent_requests = 512;
  const PoolPlan second = PlanPool(pool, true, kNow);
  EXPECT_EQ(second.starts, 0);
  EXPECT_THAT(second.drains, ElementsAre(1));
}

TEST(PoolPlan, DrainsTheNewestWhenThereAreTooMany) {
  PoolState pool = APool();
  pool.workers = {AWorker(1, WorkerPhase::kReady), AWorker(2, WorkerPhase::kReady)};
  EXPECT_THAT(PlanPool(pool, true, kNow).drains, ElementsAre(2));
}

TEST(PoolPlan, ReplacesStuckWorkersWithinBounds) {
  PoolState pool = APool();
  for (std::uint64_t id = 1; id <= kStuckReplacementsMax; ++id) {
    pool.workers.push_back(AWorker(id, WorkerPhase::kKilled));
    EXPECT_EQ(PlanPool(pool, true, kNow).starts, 1) << id << " stuck";
  }
  pool.workers.push_back(AWorker(9, WorkerPhase::kKilled));
  EXPECT_EQ(PlanPool(pool, true, kNow).starts, 0);
}

TEST(PoolPlan, ShowsTheListenerOnlyWorkersItMayUse) {
  PoolState pool = APool();
  pool.workers = {AWorker(1, WorkerPhase::kStarting), AWorker(2, WorkerPhase::kReady),
                  AWorker(3, WorkerPhase::kDraining), AWorker(4, WorkerPhase::kStopping),
                  AWorker(5, WorkerPhase::kKilled)};
  const v1::PoolUpdate update = BuildPoolUpdate(pool);
  EXPECT_TRUE(update.started());
  EXPECT_FALSE(update.removed());
  ASSERT_EQ(update.workers_size(), 2);
  EXPECT_EQ(update.workers(0).process_id(), 2u);
  EXPECT_FALSE(update.workers(0).draining());
  EXPECT_EQ(update.workers(1).process_id(), 3u);
  EXPECT_TRUE(update.workers(1).draining());
}

TEST(PoolPlan, TellsRemovalOnceNoWorkerIsLeft) {
  PoolState pool = APool();
  pool.removed = true;
  pool.workers = {AWorker(1, WorkerPhase::kDraining)};
  EXPECT_FALSE(BuildPoolUpdate(pool).started());
  EXPECT_FALSE(BuildPoolUpdate(pool).removed());
  pool.workers.clear();
  EXPECT_TRUE(BuildPoolUpdate(pool).removed());
}

TEST(PoolPlan, FillsInDefaultsAndKeepsLimits) {
  croft::v1::ApplicationPool pool;
  EXPECT_EQ(MakePoolSpec(7, pool).queue_length, 1000);
  EXPECT_TRUE(MakePoolSpec(7, pool).started);
  pool.set_state(croft::v1::STOPPED);
  pool.set_start_mode(croft::v1::ALWAYS_RUNNING);
  pool.mutable_processes()->set_max_workers(1'000'000);
  pool.mutable_processes()->set_ping_response(2000);
  const PoolSpec spec = MakePoolSpec(7, pool);
  EXPECT_FALSE(spec.started);
  EXPECT_TRUE(spec.always_running);
  EXPECT_EQ(spec.max_workers, 64);
  EXPECT_EQ(spec.ping_response, milliseconds(2000));
}

TEST(RestartDelay, DoublesFromFiftyMillisecondsToThirtySeconds) {
  EXPECT_EQ(RestartDelay(0), milliseconds(0));
  EXPECT_EQ(RestartDelay(1), milliseconds(50));
  EXPECT_EQ(RestartDelay(2), milliseconds(100));
  EXPECT_EQ(RestartDelay(10), milliseconds(25'600));
  EXPECT_EQ(RestartDelay(11), milliseconds(30'000));
  EXPECT_EQ(RestartDelay(1'000'000), milliseconds(30'000));
}

}  // namespace
}  // namespace croft::node::agent
