// What the agent and a load balancer see: routes that follow the replica, the health URL, pings,
// damage.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "node/counters/catalogue.h"
#include "tests/integration/listener/listener_node.h"
#include "tests/integration/listener/scripted_worker.h"
#include "tests/integration/listener/visitor.h"

namespace croft::node::listener::test {
namespace {

using Kind = v1::ListenerToAgent;

class AgentTest : public testing::Test {
 protected:
  AgentTest() : worker_(node_.SocketPath(1)) { node_.SetWorkers({1}); }
  int Status(const std::string& request) {
    Visitor visitor(node_.port());
    return visitor.Ask(request).status;
  }
  ListenerNode node_;
  ScriptedWorker worker_;
};

TEST_F(AgentTest, FollowsTheReplicaAtOnce) {
  EXPECT_EQ(Status(Get("/x", "one.example")), 400);
  node_.PutSite(100, "one");
  EXPECT_EQ(Status(Get("/x", "one.example")), 200);
  node_.PutSite(100, "one", [](croft::v1::Site& site) { site.set_state(croft::v1::STOPPED); });
  EXPECT_EQ(Status(Get("/x", "one.example")), 503);
  EXPECT_TRUE(node_.LogHas("error.log", " SiteStopped "));
  node_.PutSite(100, "one",
                [](croft::v1::Site& site) { site.mutable_bindings(0)->set_host("moved.example"); });
  EXPECT_EQ(Status(Get("/x", "one.example")), 400);
  EXPECT_EQ(Status(Get("/x", "moved.example")), 200);
  node_.PutSite(101, "deep", [](croft::v1::Site& site) {
    site.mutable_bindings(0)->set_host("*.moved.example");
  });
  EXPECT_EQ(Status(Get("/x", "a.moved.example")), 200);
}

TEST_F(AgentTest, DropsSitesWhenWhatTheyReferToChanges) {
  node_.PutSite(100, "one", [](croft::v1::Site& site) {
    site.mutable_applications(0)->set_pool("farms/main/pools/later");
  });
  EXPECT_EQ(Status(Get("/x", "one.example")), 503);
  croft::v1::ApplicationPool pool;
  pool.set_name("farms/main/pools/later");
  pool.set_uid(8);
  node_.Put({MakeRecord(v1::POOL, pool)});
  v1::AgentToListener message;
  message.mutable_pool()->set_pool_uid(8);
  message.mutable_pool()->set_started(true);
  message.mutable_pool()->add_workers()->set_process_id(1);
  message.mutable_pool()->mutable_workers(0)->set_socket_path(node_.SocketPath(1));
  node_.Send(message);
  EXPECT_EQ(Status(Get("/x", "one.example")), 200);
}

TEST_F(AgentTest, ServesPersonalPages) {
  node_.PutSite(100, "members", [](croft::v1::Site& site) {
    site.mutable_personal_pages()->add_forms(croft::v1::TILDE);
    site.mutable_personal_pages()->add_forms(croft::v1::PATH);
  });
  croft::v1::Account bob;
  bob.set_name("farms/main/accounts/bob");
  bob.set_uid(500);
  bob.mutable_home()->set_store("farms/main/stores/content");
  bob.mutable_home()->set_path("homes/01/500");
  node_.Put({MakeRecord(v1::ACCOUNT, bob)});
  Visitor visitor(node_.port());
  EXPECT_EQ(visitor.Ask(Get("/~BOB/pic.gif", "members.example")).status, 200);
  const Response redirect = visitor.Ask(Get("/~bob?x=1", "members.example"));
  EXPECT_EQ(redirect.status, 301);
  EXPECT_EQ(redirect.header.at("location"), "/~bob/?x=1");
  EXPECT_EQ(visitor.Ask(Get("/~nobody/", "members.example")).status, 404);
  bob.set_state(croft::v1::SUSPENDED);
  node_.Put({MakeRecord(v1::ACCOUNT, bob)});
  EXPECT_EQ(visitor.Ask(Get("/~bob/pic.gif", "members.example")).status, 403);
  EXPECT_TRUE(node_.LogHas("error.log", " AccountSuspended "));
}

TEST_F(AgentTest, TellsALoadBalancerWhetherItServes) {
  Visitor balancer(node_.health_port());
  const std::string ask = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
  Response response = balancer.Ask(ask);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "ok\n");
  v1::AgentToListener draining;
  draining.mutable_draining()->set_draining(true);
  node_.Send(draining);
  EXPECT_TRUE(Eventually([&] { return balancer.Ask(ask).status == 503; }));
  EXPECT_EQ(balancer.Ask("GET /other HTTP/1.1\r\nHost: x\r\n\r\n").status, 404);
}

TEST_F(AgentTest, AnswersPings) {
  v1::AgentToListener ping;
  ping.mutable_ping()->set_sequence(42);
  node_.Send(ping);
  const auto pong = node_.Expect(Kind::kPong);
  ASSERT_TRUE(pong);
  EXPECT_EQ(pong->pong().sequence(), 42u);
}

TEST_F(AgentTest, TakesTheSameWordsAgainFromAnAgentThatAdopts) {
  node_.PutSite(100, "one");
  Visitor visitor(node_.port());
  EXPECT_EQ(visitor.Ask(Get("/x", "one.example")).status, 200);
  node_.SayEverythingAgain();
  EXPECT_TRUE(node_.Expect(Kind::kReady));
  EXPECT_TRUE(node_.Expect(Kind::kServed));
  EXPECT_EQ(visitor.Ask(Get("/x", "one.example")).status, 200);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Status(Get("/x", "one.example")), 200);
  }
}

TEST_F(AgentTest, StopsListeningWhereNoBindingIsLeft) {
  node_.CloseEndpoint();
  EXPECT_TRUE(Eventually([&] {
    Visitor visitor(node_.port());
    return visitor.fd() < 0;
  }));
}

TEST_F(AgentTest, TellsOfAReplicaItCannotOpenAndServesOn) {
  node_.PutSite(100, "one");
  EXPECT_EQ(Status(Get("/x", "one.example")), 200);
  v1::AgentToListener changed;
  changed.mutable_replica_changed()->set_replica_path(node_.directory() + "/nowhere");
  changed.mutable_replica_changed()->set_all(true);
  node_.Send(changed);
  EXPECT_TRUE(node_.Expect(Kind::kDamaged));
  // What it serves is what it served before, and the agent is told so.
  const auto served = node_.Expect(Kind::kServed);
  ASSERT_TRUE(served);
  EXPECT_EQ(served->served().position().revision(), 2);
  EXPECT_EQ(Status(Get("/x", "one.example")), 200);
}

}  // namespace
}  // namespace croft::node::listener::test
