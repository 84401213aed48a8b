// What a visitor sees of a listener whose pool is well.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "node/counters/catalogue.h"
#include "tests/integration/listener/listener_node.h"
#include "tests/integration/listener/scripted_worker.h"
#include "tests/integration/listener/visitor.h"

namespace croft::node::listener::test {
namespace {

class ServingTest : public testing::Test {
 protected:
  ServingTest() : worker_(node_.SocketPath(1)) {
    node_.PutSite(ListenerNode::kSite, "site");
    node_.SetWorkers({1});
  }
  ListenerNode node_;
  ScriptedWorker worker_;
};

TEST_F(ServingTest, AnswersWithTheWorkersBodyAndKeepsTheConnection) {
  Visitor visitor(node_.port());
  for (int i = 0; i < 30; ++i) {
    const Response response = visitor.Ask(Get("/bytes/10000"));
    ASSERT_EQ(response.status, 200);
    EXPECT_TRUE(response.complete);
    EXPECT_EQ(response.body, std::string(10000, 'x'));
    EXPECT_EQ(response.header.at("server"), "Croft");
    EXPECT_TRUE(response.header.contains("date"));
  }
}

TEST_F(ServingTest, AnswersPipelinedRequestsInOrder) {
  Visitor visitor(node_.port());
  std::string all;
  for (int i = 0; i < 40; ++i) {
    all += Get("/page" + std::to_string(i));
  }
  visitor.Send(all);
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(visitor.Read().body, "hello from /page" + std::to_string(i));
  }
}

TEST_F(ServingTest, StreamsABodyWithoutLengthInChunksOrUntilTheEnd) {
  Visitor modern(node_.port());
  const Response chunked = modern.Ask(Get("/stream/700000"));
  EXPECT_EQ(chunked.header.at("transfer-encoding"), "chunked");
  EXPECT_TRUE(chunked.complete);
  EXPECT_EQ(chunked.body.size(), 700'000u);
  Visitor old(node_.port());
  const Response plain = old.Ask("GET /stream/700000 HTTP/1.0\r\nHost: site.example\r\n\r\n");
  EXPECT_FALSE(plain.header.contains("transfer-encoding"));
  EXPECT_EQ(plain.body.size(), 700'000u);
  EXPECT_TRUE(old.SeesEnd());
}

TEST_F(ServingTest, KeepsAnHttp10ConnectionOnlyWhenAsked) {
  Visitor plain(node_.port());
  EXPECT_EQ(plain.Ask("GET /bytes/5 HTTP/1.0\r\nHost: site.example\r\n\r\n").status, 200);
  EXPECT_TRUE(plain.SeesEnd());
  Visitor kept(node_.port());
  const std::string ask =
      "GET /bytes/5 HTTP/1.0\r\nHost: site.example\r\nConnection: keep-alive\r\n\r\n";
  EXPECT_EQ(kept.Ask(ask).header.at("connection"), "keep-alive");
  EXPECT_EQ(kept.Ask(ask).status, 200);
}

TEST_F(ServingTest, SendsNoBodyForHead) {
  Visitor visitor(node_.port());
  const Response response =
      visitor.Ask("HEAD /bytes/5000 HTTP/1.1\r\nHost: site.example\r\n\r\n", true);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.header.at("content-length"), "5000");
  EXPECT_EQ(visitor.Ask(Get("/bytes/3")).body, "xxx");
}

TEST_F(ServingTest, CarriesBodiesUpInBothFramings) {
  Visitor visitor(node_.port());
  const std::string body(500'000, 'b');
  Response response = visitor.Ask(
      "POST /echo HTTP/1.1\r\nHost: site.example\r\nContent-Length: 500000\r\n\r\n" + body);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, body);
  response = visitor.Ask(
      "POST /echo HTTP/1.1\r\nHost: site.example\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;x=1\r\nhello\r\n6\r\n world\r\n0\r\nX-Trailer: 1\r\n\r\n" +
      Get("/bytes/2"));
  EXPECT_EQ(response.body, "hello world");
  EXPECT_EQ(visitor.Read().body, "xx");
}

TEST_F(ServingTest, AsksForTheBodyThatWaitsForContinue) {
  Visitor visitor(node_.port());
  visitor.Send(
      "POST /echo HTTP/1.1\r\nHost: site.example\r\nContent-Length: 5\r\nExpect: "
      "100-continue\r\n\r\n");
  EXPECT_EQ(visitor.ReadSome(100), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(visitor.Ask("hello").body, "hello");
}

TEST_F(ServingTest, RefusesABodyBeyondTheLimit) {
  node_.PutSite(ListenerNode::kSite, "site", [](croft::v1::Site& site) {
    site.mutable_settings()->mutable_limits()->set_max_body(1000);
  });
  Visitor sized(node_.port());
  EXPECT_EQ(
      sized.Ask("POST /echo HTTP/1.1\r\nHost: site.example\r\nContent-Length: 1001\r\n\r\n").status,
      413);
  EXPECT_TRUE(sized.SeesEnd());
  Visitor chunked(node_.port());
  const std::string chunk = "258\r\n" + std::string(600, 'c') + "\r\n";
  EXPECT_EQ(
      chunked
          .Ask("POST /echo HTTP/1.1\r\nHost: site.example\r\nTransfer-Encoding: chunked\r\n\r\n" +
               chunk + chunk)
          .status,
      413);
  EXPECT_TRUE(node_.LogHas("error.log", " 413 100 EntityTooLarge 7\n"));
}

TEST_F(ServingTest, ForwardsEndToEndFieldsOnlyAndHidesItsOwn) {
  Visitor visitor(node_.port());
  const Response response = visitor.Ask(Get("/headers?q=1", "site.example",
                                            "X-A: 1\r\nConnection: close, x-hop\r\nX-Hop: "
                                            "2\r\nCroft-Target: 0,0,evil\r\nTE: trailers\r\n"));
  EXPECT_NE(response.body.find(":path=/headers?q=1\n"), std::string::npos);
  EXPECT_NE(response.body.find(":authority=site.example\n"), std::string::npos);
  EXPECT_NE(response.body.find("x-a=1\n"), std::string::npos);
  EXPECT_NE(response.body.find("croft-target=0,0,site\n"), std::string::npos);
  EXPECT_NE(response.body.find("croft-settings=0="), std::string::npos);
  for (const char* hidden : {"x-hop", "evil", "\nte=", "\nconnection", "\nhost="}) {
    EXPECT_EQ(response.body.find(hidden), std::string::npos) << hidden;
  }
  EXPECT_FALSE(response.header.contains("croft-substatus"));
  EXPECT_EQ(response.header.at("server"), "Croft");
  EXPECT_EQ(response.header.at("x-mine"), "yes");
  EXPECT_TRUE(node_.LogHas("request.log", " 200 7 "));
  Visitor again(node_.port());
  EXPECT_EQ(again.Ask(Get("/headers")).status, 200);
}

TEST_F(ServingTest, StopsReadingFromTheWorkerWhenTheVisitorDoes) {
  Visitor slow(node_.port());
  slow.Send(Get("/bytes/50000000"));
  EXPECT_EQ(slow.ReadSome(12), "HTTP/1.1 200");
  std::int64_t before = -1;
  // The worker stops at some point far below the whole.
  EXPECT_TRUE(Eventually([&] {
    const std::int64_t now = worker_.body_bytes_given();
    return now > 0 && std::exchange(before, now) == now;
  }));
  Visitor other(node_.port());
  EXPECT_EQ(other.Ask(Get("/bytes/10")).status, 200);
  EXPECT_LT(worker_.body_bytes_given(), 20'000'000);
}

TEST_F(ServingTest, ServesAThousandConnectionsAtOnce) {
  std::vector<std::unique_ptr<Visitor>> visitors;
  for (int i = 0; i < 1000; ++i) {
    visitors.push_back(std::make_unique<Visitor>(node_.port()));
  }
  for (int round = 0; round < 2; ++round) {
    for (auto& visitor : visitors) {
      visitor->Send(Get("/bytes/100"));
    }
    for (auto& visitor : visitors) {
      ASSERT_EQ(visitor->Read().body.size(), 100u);
    }
  }
  EXPECT_LE(worker_.connections(), 2);
}

TEST_F(ServingTest, WritesTheRequestLogAndCountsWhereItSends) {
  Visitor visitor(node_.port());
  EXPECT_EQ(visitor.Ask(Get("/bytes/10?a=b", "site.example", "User-Agent: my browser\r\n")).status,
            200);
  ASSERT_TRUE(node_.LogHas(
      "request.log", " site web1 127.0.0.1 GET /bytes/10 a=b " + std::to_string(node_.port()) +
                         " 127.0.0.1 HTTP/1.1 my+browser - site.example 200 0 "));
  const std::string log = node_.ReadLog("request.log");
  EXPECT_EQ(log.rfind("#Software: Croft\n#Version: 1.0\n#Date: ", 0), 0u);
  EXPECT_NE(log.find("#Fields: date time s-sitename s-computername s-ip cs-method"),
            std::string::npos);
  using counters::SiteCounter;
  const auto row = node_.counters().GetRow(counters::InstanceType::kSite, ListenerNode::kSite);
  EXPECT_EQ(row.Get(SiteCounter::kRequestsTotal), 1);
  EXPECT_EQ(row.Get(SiteCounter::kRequestsActive), 0);
  EXPECT_EQ(row.Get(SiteCounter::kStatus2xxTotal), 1);
  EXPECT_GT(row.Get(SiteCounter::kBytesSentTotal), 100);
}

TEST_F(ServingTest, OpensARenamedLogAnew) {
  Visitor visitor(node_.port());
  visitor.Ask(Get("/first"));
  ASSERT_TRUE(node_.LogHas("request.log", "/first"));
  std::filesystem::rename(node_.directory() + "/log/request.log",
                          node_.directory() + "/log/old.log");
  visitor.Ask(Get("/second"));
  EXPECT_TRUE(node_.LogHas("request.log", "/second"));
  EXPECT_EQ(node_.ReadLog("request.log").find("/first"), std::string::npos);
  node_.Signal(SIGHUP);
  visitor.Ask(Get("/third"));
  EXPECT_TRUE(node_.LogHas("request.log", "/third"));
}

TEST_F(ServingTest, LeavesASiteWithoutLoggingOutOfTheLog) {
  node_.PutSite(101, "quiet", [](croft::v1::Site& site) {
    site.mutable_settings()->mutable_log()->set_enabled(false);
  });
  Visitor visitor(node_.port());
  EXPECT_EQ(visitor.Ask(Get("/hush", "quiet.example")).status, 200);
  EXPECT_EQ(visitor.Ask(Get("/loud")).status, 200);
  ASSERT_TRUE(node_.LogHas("request.log", "/loud"));
  EXPECT_EQ(node_.ReadLog("request.log").find("/hush"), std::string::npos);
}

TEST_F(ServingTest, FinishesWhatIsInFlightWhenItEnds) {
  Visitor idle(node_.port());
  idle.Ask(Get("/bytes/1"));
  Visitor busy(node_.port());
  busy.Send(Get("/never"));
  ASSERT_TRUE(Eventually([&] { return worker_.open_streams() == 1; }));
  node_.Signal(SIGTERM);
  EXPECT_TRUE(idle.SeesEnd());
  worker_.Release();
  const Response response = busy.Read();
  EXPECT_EQ(response.body, "released");
  EXPECT_EQ(node_.Stop(), 0);
}

}  // namespace
}  // namespace croft::node::listener::test
