// The listener's small parts: deadlines, the crash guard, settings by number, the site cache, log
// lines, places in a pool.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "node/listener/crash_guard.h"
#include "node/listener/http1_response.h"
#include "node/listener/log_line.h"
#include "node/listener/pool_state.h"
#include "node/listener/settings_table.h"
#include "node/listener/site_cache.h"
#include "node/listener/timer_wheel.h"

namespace croft::node::listener {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct Bell final : Timed {
  void OnDeadline() override { ++rung; }
  int rung = 0;
};

TEST(TimerWheel, RingsOnceAndNeverEarly) {
  const TimePoint start;
  TimerWheel wheel(start);
  Bell bell;
  wheel.Set(bell, start + milliseconds(1050));
  wheel.Advance(start + milliseconds(1049));
  EXPECT_EQ(bell.rung, 0);
  wheel.Advance(start + milliseconds(1200));
  EXPECT_EQ(bell.rung, 1);
  wheel.Advance(start + seconds(1000));
  EXPECT_EQ(bell.rung, 1);
}

TEST(TimerWheel, FollowsADeadlineThatMoves) {
  const TimePoint start;
  TimerWheel wheel(start);
  Bell later;
  Bell sooner;
  Bell cleared;
  wheel.Set(later, start + seconds(1));
  wheel.Set(later, start + seconds(300));  // beyond one turn of the wheel
  wheel.Set(sooner, start + seconds(50));
  wheel.Set(sooner, start + seconds(1));
  wheel.Set(cleared, start + seconds(1));
  wheel.Clear(cleared);
  for (int second = 0; second < 299; ++second) {
    wheel.Advance(start + seconds(second) + milliseconds(200));
  }
  EXPECT_EQ(later.rung, 0);
  EXPECT_EQ(sooner.rung, 1);
  EXPECT_EQ(cleared.rung, 0);
  wheel.Advance(start + seconds(301));
  EXPECT_EQ(later.rung, 1);
}

TEST(TimerWheel, RestsWhenEmptyAndIsCurrentAfterIt) {
  const TimePoint start;
  TimePoint now = start;
  TimerWheel wheel(start);
  int alarms = 0;
  wheel.OnRestEnds([&] {
    ++alarms;
    wheel.Advance(now);
  });
  Bell bell;
  wheel.Set(bell, start + seconds(1));
  EXPECT_FALSE(wheel.Rest());
  wheel.Advance(start + seconds(2));
  EXPECT_EQ(bell.rung, 1);
  EXPECT_TRUE(wheel.Rest());
  now = start + seconds(36000);
  wheel.Set(bell, now + seconds(5));
  EXPECT_EQ(alarms, 1);
  wheel.Advance(now + seconds(4));
  EXPECT_EQ(bell.rung, 1);
  wheel.Advance(now + seconds(6));
  EXPECT_EQ(bell.rung, 2);
  EXPECT_EQ(alarms, 1);
}

TEST(TimerWheel, ForgetsWhatIsDestroyed) {
  const TimePoint start;
  TimerWheel wheel(start);
  {
    Bell bell;
    wheel.Set(bell, start + seconds(1));
  }
  wheel.Advance(start + seconds(2));
}

TEST(CrashGuard, RefusesAfterTheSecondWorkersDeathForAWhile) {
  CrashGuard guard;
  CrashGuard::TimePoint now{minutes(100)};
  EXPECT_FALSE(guard.OnDeath(1, "/a", 10, now));
  EXPECT_FALSE(guard.OnDeath(1, "/a", 10, now)) << "the same death";
  EXPECT_FALSE(guard.Refuses(1, "/a", now));
  EXPECT_TRUE(guard.OnDeath(1, "/a", 11, now));
  EXPECT_TRUE(guard.Refuses(1, "/a", now + minutes(4)));
  EXPECT_FALSE(guard.Refuses(1, "/b", now));
  EXPECT_FALSE(guard.Refuses(2, "/a", now));
  EXPECT_FALSE(guard.Refuses(1, "/a", now + minutes(6)));
}

TEST(CrashGuard, ClearsWhatIsServedWellAndForgetsOldDeaths) {
  CrashGuard guard;
  const CrashGuard::TimePoint now{minutes(100)};
  guard.OnDeath(1, "/a", 10, now);
  guard.OnServed(1, "/a");
  EXPECT_FALSE(guard.OnDeath(1, "/a", 11, now));
  EXPECT_FALSE(guard.OnDeath(1, "/a", 12, now + minutes(9)));
}

TEST(CrashGuard, IsBounded) {
  CrashGuard guard;
  const CrashGuard::TimePoint now{minutes(100)};
  for (int i = 0; i < 5000; ++i) {
    guard.OnDeath(i, "/a", 10, now + seconds(i / 100));
  }
  EXPECT_FALSE(guard.OnDeath(0, "/a", 11, now + minutes(1))) << "the oldest was dropped";
  EXPECT_TRUE(guard.OnDeath(4999, "/a", 11, now + minutes(1)));
}

TEST(SettingsTable, DefinesOnceAndReusesTheLeastRecentlyUsedNumber) {
  SettingsTable table(3);
  std::vector<SettingsTable::Key> keys;
  for (int i = 0; i < 4; ++i) {
    keys.push_back({1, std::make_shared<const croft::v1::Settings>()});
  }
  for (std::uint32_t i = 0; i < 3; ++i) {
    const auto use = table.Find(keys[i]);
    EXPECT_EQ(use.number, i);
    EXPECT_TRUE(use.define);
  }
  EXPECT_FALSE(table.Find(keys[0]).define);
  const auto fourth = table.Find(keys[3]);
  EXPECT_EQ(fourth.number, 1u);
  EXPECT_TRUE(fourth.define);
  EXPECT_FALSE(table.Find(keys[0]).define);
  EXPECT_TRUE(table.Find(keys[1]).define);
  SettingsTable::Key elsewhere = keys[0];
  elsewhere.store_uid = 2;
  EXPECT_TRUE(table.Find(elsewhere).define);
}

std::shared_ptr<const contract::ResolvedSite> Site(std::int64_t uid) {
  auto site = std::make_shared<contract::ResolvedSite>();
  site->uid = uid;
  return site;
}

TEST(SiteCache, DropsTheLeastRecentlyUsedBeyondItsBytes) {
  SiteCache cache(1000, 10);
  for (std::int64_t uid = 1; uid <= 3; ++uid) {
    cache.PutSite(Site(uid), 400);
    EXPECT_NE(cache.FindSite(1), nullptr);
  }
  EXPECT_EQ(cache.FindSite(2), nullptr);
  EXPECT_NE(cache.FindSite(3), nullptr);
  EXPECT_EQ(cache.bytes(), 800u);
  cache.PutSite(Site(3), 100);
  EXPECT_EQ(cache.bytes(), 500u);
}

TEST(SiteCache, ForgetsASitesBindingsWithItAndAllWhenThereAreTooMany) {
  SiteCache cache(1000, 3);
  cache.PutBinding("a", 1);
  cache.PutBinding("b", 0);
  cache.PutBinding("c", 2);
  EXPECT_EQ(cache.FindBinding("a"), 1);
  EXPECT_EQ(cache.FindBinding("b"), 0);
  EXPECT_EQ(cache.FindBinding("d"), std::nullopt);
  cache.DropSite(1);
  EXPECT_EQ(cache.FindBinding("a"), std::nullopt);
  EXPECT_EQ(cache.FindBinding("b"), 0) << "another change's";
  EXPECT_EQ(cache.FindBinding("c"), 2);
  cache.DropBinding("b");
  EXPECT_EQ(cache.FindBinding("b"), std::nullopt);
  for (const char* key : {"1", "2", "3", "4"}) {
    cache.PutBinding(key, 1);
  }
  EXPECT_EQ(cache.FindBinding("c"), std::nullopt);
  EXPECT_EQ(cache.FindBinding("4"), 1);
}

TEST(SiteCache, KeepsABindingThatWentToAnotherSite) {
  SiteCache cache(1000, 10);
  cache.PutBinding("a", 1);
  cache.DropBinding("a");
  cache.PutBinding("a", 2);
  cache.DropSite(2);
  EXPECT_EQ(cache.FindBinding("a"), std::nullopt);
}

TEST(LogLine, IsOneLineOfPlainFieldsWhateverVisitorsSend) {
  LoggedRequest request{.time = "2026-11-30 20:07:09",
                        .server_ip = "10.0.0.1",
                        .server_port = 80,
                        .client_ip = "::1",
                        .client_port = 5000,
                        .minor_version = 1,
                        .method = "GET",
                        .uri_stem = "/a",
                        .uri_query = "",
                        .uri = "/a",
                        .host = "h",
                        .user_agent = "Mozilla/5.0 (X;\tY)\x01",
                        .referer = ""};
  std::string line;
  AppendRequestLine(request,
                    {.site = "shop",
                     .computer = "web1",
                     .status = 404,
                     .substatus = "3",
                     .sent_bytes = 10,
                     .received_bytes = 20,
                     .time_taken_ms = 5},
                    line);
  EXPECT_EQ(
      line,
      "2026-11-30 20:07:09 shop web1 10.0.0.1 GET /a - 80 ::1 HTTP/1.1 Mozilla/5.0+(X;+Y)+ - h "
      "404 3 10 20 5\n");
  line.clear();
  request.minor_version = -1;
  request.method = request.uri = {};
  AppendErrorLine(request, {.status = 400, .site_uid = 0, .reason = "Verb", .pool_uid = 0}, line);
  EXPECT_EQ(line, "2026-11-30 20:07:09 ::1 5000 10.0.0.1 80 - - - 400 - Verb -\n");
  line.clear();
  AppendLogValue(std::string(5000, 'x'), line);
  EXPECT_EQ(line, "...");
}

TEST(PoolState, GivesNoMorePlacesThanThereAre) {
  PoolState pool(1, 2, counters::Row());
  pool.queue_length = 2;
  pool.max_concurrent = 1;
  EXPECT_TRUE(pool.TakeQueuePlace(0));
  EXPECT_TRUE(pool.TakeQueuePlace(1));
  EXPECT_FALSE(pool.TakeQueuePlace(0));
  pool.LeaveQueue(1);
  EXPECT_TRUE(pool.TakeQueuePlace(0));
  v1::PoolWorker told;
  WorkerState worker(told);
  EXPECT_TRUE(pool.TakeWorkerPlace(worker));
  EXPECT_FALSE(pool.TakeWorkerPlace(worker));
}

TEST(Response, HasWholeLinesAndSmallPages) {
  std::string out;
  AppendResponseHead(404, "D", ConnectionField::kClose, out);
  AppendContentLength(12, out);
  EXPECT_EQ(out,
            "HTTP/1.1 404 Not Found\r\nServer: Croft\r\nDate: D\r\nConnection: close\r\n"
            "Content-Length: 12\r\n");
  out.clear();
  AppendChunk("0123456789abcdef", out);
  AppendChunk("", out);
  EXPECT_EQ(out, "10\r\n0123456789abcdef\r\n");
  EXPECT_NE(ErrorPage(503).find("<h1>503 Service Unavailable</h1>"), std::string::npos);
}

}  // namespace
}  // namespace croft::node::listener
