// Pools without workers, full queues, workers that die or misbehave.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "node/counters/catalogue.h"
#include "tests/integration/listener/listener_node.h"
#include "tests/integration/listener/scripted_worker.h"
#include "tests/integration/listener/visitor.h"

namespace croft::node::listener::test {
namespace {

using Kind = v1::ListenerToAgent;
using counters::PoolCounter;

class WorkerTroubleTest : public testing::Test {
 protected:
  WorkerTroubleTest() { node_.PutSite(ListenerNode::kSite, "site"); }
  std::unique_ptr<ScriptedWorker> Worker(std::uint64_t process_id) {
    return std::make_unique<ScriptedWorker>(node_.SocketPath(process_id));
  }
  std::int64_t Count(PoolCounter counter) {
    return node_.counters().GetRow(counters::InstanceType::kPool, ListenerNode::kPool).Get(counter);
  }
  ListenerNode node_;
};

TEST_F(WorkerTroubleTest, AsksForAWorkerOnceAndServesWhatWaited) {
  std::vector<std::unique_ptr<Visitor>> visitors;
  for (int i = 0; i < 20; ++i) {
    visitors.push_back(std::make_unique<Visitor>(node_.port()));
    visitors.back()->Send(Get("/bytes/5"));
  }
  const auto asked = node_.Expect(Kind::kStartPool);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->start_pool().pool_uid(), ListenerNode::kPool);
  ASSERT_TRUE(Eventually([&] { return Count(PoolCounter::kRequestsQueued) == 20; }));
  EXPECT_FALSE(node_.Expect(Kind::kStartPool, std::chrono::milliseconds(50)));
  const auto worker = Worker(1);
  node_.SetWorkers({1});
  for (auto& visitor : visitors) {
    EXPECT_EQ(visitor->Read().status, 200);
  }
  EXPECT_EQ(Count(PoolCounter::kRequestsQueued), 0);
  EXPECT_TRUE(Eventually([&] { return Count(PoolCounter::kRequestsActive) == 0; }));
}

TEST_F(WorkerTroubleTest, TakesTheBodyOfARequestThatWaited) {
  Visitor whole(node_.port());
  whole.Send("POST /echo HTTP/1.1\r\nHost: site.example\r\nContent-Length: 5\r\n\r\nhello");
  Visitor asking(node_.port());
  asking.Send(
      "POST /echo HTTP/1.1\r\nHost: site.example\r\nContent-Length: 5\r\nExpect: "
      "100-continue\r\n\r\n");
  ASSERT_TRUE(Eventually([&] { return Count(PoolCounter::kRequestsQueued) == 2; }));
  const auto worker = Worker(1);
  node_.SetWorkers({1});
  EXPECT_EQ(whole.Read().body, "hello");
  EXPECT_EQ(asking.ReadSome(100), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(asking.Ask("hello").body, "hello");
}

TEST_F(WorkerTroubleTest, RefusesBeyondTheQueueAndKeepsWorkersToTheirLimit) {
  const auto worker = Worker(1);
  node_.SendPool([&](v1::PoolUpdate& pool) {
    pool.set_queue_length(10);
    pool.set_max_concurrent_requests(4);
    pool.add_workers()->set_process_id(1);
    pool.mutable_workers(0)->set_socket_path(node_.SocketPath(1));
  });
  std::vector<std::unique_ptr<Visitor>> visitors;
  for (int i = 0; i < 14; ++i) {
    visitors.push_back(std::make_unique<Visitor>(node_.port()));
    visitors.back()->Send(Get("/never"));
    ASSERT_TRUE(Eventually(
        [&] { return Count(PoolCounter::kRequestsQueued) + worker->open_streams() == i + 1; }));
  }
  EXPECT_EQ(worker->open_streams(), 4);
  Visitor late(node_.port());
  EXPECT_EQ(late.Ask(Get("/x")).status, 503);
  EXPECT_TRUE(node_.LogHas("error.log", " 503 100 QueueFull 7\n"));
  EXPECT_EQ(Count(PoolCounter::kRejectedQueueFullTotal), 1);
  worker->Release();
  for (auto& visitor : visitors) {
    EXPECT_EQ(visitor->Read().body, "released");
  }
  EXPECT_EQ(worker->most_streams(), 4);
}

TEST_F(WorkerTroubleTest, ForgetsAWaitingVisitorWhoResets) {
  Visitor visitor(node_.port());
  visitor.Send(Get("/x"));
  ASSERT_TRUE(Eventually([&] { return Count(PoolCounter::kRequestsQueued) == 1; }));
  visitor.Reset();
  EXPECT_TRUE(Eventually([&] { return Count(PoolCounter::kRequestsQueued) == 0; }));
  EXPECT_TRUE(node_.LogHas("error.log", "Client_Reset"));
}

TEST_F(WorkerTroubleTest, EndsAWaitThatIsTooLong) {
  node_.PutSite(ListenerNode::kSite, "site", [](croft::v1::Site& site) {
    site.mutable_settings()->mutable_timeouts()->set_queue(1000);
  });
  Visitor visitor(node_.port());
  EXPECT_EQ(visitor.Ask(Get("/x")).status, 503);
  EXPECT_TRUE(node_.LogHas("error.log", "Timer_ReqQueue"));
  EXPECT_EQ(Count(PoolCounter::kQueueTimeoutTotal), 1);
}

TEST_F(WorkerTroubleTest, AnswersForAStoppedPool) {
  Visitor waiting(node_.port());
  waiting.Send(Get("/x"));
  ASSERT_TRUE(node_.Expect(Kind::kStartPool));
  node_.SendPool([](v1::PoolUpdate& pool) { pool.set_started(false); });
  EXPECT_EQ(waiting.Read().status, 503);
  EXPECT_EQ(waiting.Ask(Get("/x")).status, 503);
  EXPECT_TRUE(node_.LogHas("error.log", " 503 100 Disabled 7\n"));
}

TEST_F(WorkerTroubleTest, RepeatsAPageOnceWhenItsWorkerDies) {
  auto first = Worker(1);
  node_.SetWorkers({1});
  Visitor page(node_.port());
  page.Send(Get("/never"));
  Visitor form(node_.port());
  form.Send("POST /never HTTP/1.1\r\nHost: site.example\r\nContent-Length: 1\r\n\r\nx");
  ASSERT_TRUE(Eventually([&] { return first->open_streams() == 2; }));
  first.reset();
  EXPECT_EQ(form.Read().status, 503);
  EXPECT_TRUE(node_.LogHas("error.log", "Connection_Abandoned"));
  const auto second = Worker(2);
  second->Release();
  node_.SetWorkers({2});
  EXPECT_EQ(page.Read().body, "released");
  EXPECT_EQ(Count(PoolCounter::kRetriedTotal), 1);
  EXPECT_EQ(Count(PoolCounter::kLostWorkerTotal), 2);
}

TEST_F(WorkerTroubleTest, CutsAResponseThatHadBegun) {
  const auto worker = Worker(1);
  node_.SetWorkers({1});
  Visitor visitor(node_.port());
  const Response response = visitor.Ask(Get("/crash-mid"));
  EXPECT_EQ(response.status, 200);
  EXPECT_FALSE(response.complete);
  EXPECT_TRUE(visitor.SeesEnd());
}

TEST_F(WorkerTroubleTest, RefusesAUrlThatKilledTwoWorkers) {
  auto first = Worker(1);
  node_.SetWorkers({1});
  Visitor bystander(node_.port());
  bystander.Send(Get("/never"));
  ASSERT_TRUE(Eventually([&] { return first->open_streams() == 1; }));
  Visitor killer(node_.port());
  killer.Send(Get("/crash"));
  ASSERT_TRUE(Eventually([&] { return Count(PoolCounter::kLostWorkerTotal) == 2; }));
  auto second = Worker(2);
  node_.SetWorkers({2});
  EXPECT_EQ(killer.Read().status, 503);
  const auto event = node_.Expect(Kind::kEvent);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->event().kind(), "url_refused");
  EXPECT_EQ(event->event().site_uid(), ListenerNode::kSite);
  auto third = Worker(3);
  node_.SetWorkers({3});
  EXPECT_EQ(killer.Ask(Get("/crash")).status, 503);
  EXPECT_TRUE(node_.LogHas("error.log", " 503 100 UrlRefused 7\n"));
  EXPECT_EQ(Count(PoolCounter::kUrlRefusedTotal), 1);
  Visitor other(node_.port());
  EXPECT_EQ(other.Ask(Get("/fine")).status, 200);
}

TEST_F(WorkerTroubleTest, SurvivesWorkersThatBreakHttp2OrItsLimits) {
  const auto worker = Worker(1);
  node_.SetWorkers({1});
  for (const char* path : {"/huge-header", "/many-fields", "/status-99", "/garbage", "/refuse"}) {
    Visitor visitor(node_.port());
    const int status = visitor.Ask(Get(path)).status;
    EXPECT_TRUE(status == 502 || status == 503) << path << " " << status;
  }
  Visitor visitor(node_.port());
  EXPECT_EQ(visitor.Ask(Get("/bytes/10")).status, 200);
  EXPECT_TRUE(Eventually([&] { return Count(PoolCounter::kRequestsActive) == 0; }));
}

TEST_F(WorkerTroubleTest, DrainsAWorkerBeforeItSaysSo) {
  const auto first = Worker(1);
  const auto second = Worker(2);
  node_.SetWorkers({1});
  Visitor visitor(node_.port());
  visitor.Send(Get("/never"));
  ASSERT_TRUE(Eventually([&] { return first->open_streams() == 1; }));
  node_.SendPool([&](v1::PoolUpdate& pool) {
    for (const std::uint64_t id : {1, 2}) {
      v1::PoolWorker& worker = *pool.add_workers();
      worker.set_process_id(id);
      worker.set_socket_path(node_.SocketPath(id));
      worker.set_draining(id == 1);
    }
  });
  // Served by every loop, so every loop has heard of the draining too.
  node_.PutSite(ListenerNode::kSite, "site");
  for (int i = 0; i < 20; ++i) {
    Visitor other(node_.port());
    EXPECT_EQ(other.Ask(Get("/bytes/1")).status, 200);
  }
  EXPECT_EQ(first->requests(), 1);
  EXPECT_EQ(second->requests(), 20);
  EXPECT_FALSE(node_.Expect(Kind::kDrained, std::chrono::milliseconds(50)));
  first->Release();
  EXPECT_EQ(visitor.Read().body, "released");
  const auto drained = node_.Expect(Kind::kDrained);
  ASSERT_TRUE(drained);
  EXPECT_EQ(drained->drained().process_id(), 1u);
}

TEST_F(WorkerTroubleTest, SpreadsOverAWebGarden) {
  const auto first = Worker(1);
  const auto second = Worker(2);
  node_.SetWorkers({1, 2});
  for (int i = 0; i < 40; ++i) {
    Visitor visitor(node_.port());
    EXPECT_EQ(visitor.Ask(Get("/bytes/1")).status, 200);
  }
  EXPECT_EQ(first->requests() + second->requests(), 40);
  EXPECT_GT(first->requests(), 10);
  EXPECT_GT(second->requests(), 10);
}

}  // namespace
}  // namespace croft::node::listener::test
