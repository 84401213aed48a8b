// A whole node of real processes, with control spoken for by the test: what must go on whoever
// dies.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "croft/v1/node.pb.h"
#include "croft/v1/pool.pb.h"
#include "croft/v1/site.pb.h"
#include "croft/v1/store.pb.h"
#include "node/counters/catalogue.h"
#include "proto/base/unique_fd.h"
#include "tests/integration/agent/running_node.h"
#include "tests/integration/agent/small_control.h"

namespace croft::node::agent {
namespace {

constexpr std::int64_t kPoolUid = 3;
constexpr std::int64_t kSiteUid = 4;

// Keeps asking for one page over new connections, from two threads.
class Load {
 public:
  explicit Load(std::uint16_t port) {
    for (int i = 0; i < 2; ++i) {
      threads_.emplace_back([this, port](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          (Get(port, "a.example", "/").status == 200 ? good_ : bad_) += 1;
        }
      });
    }
  }
  int good() const { return good_; }
  // Ends the load.
  int StopAndCountBad() {
    threads_.clear();
    return bad_;
  }

 private:
  std::atomic<int> good_{0};
  std::atomic<int> bad_{0};
  std::vector<std::jthread> threads_;
};

class NodeTest : public testing::Test {
 protected:
  void SetUp() override {
    control_.Start();
    node_.Configure("control: " + control_.address());
    node_.Configure("ca_file: " + node_.WriteFile("ca.crt", control_.ca()));
    node_.Configure("join_token_file: " + node_.WriteFile("token", control_.token() + "\n"));
    std::ofstream(node_.content() / "index.html") << "page a";
    PutEstate();
  }
  void TearDown() override {
    if (HasFailure()) {
      for (const v1::RecordResult& refused : control_.refused()) {
        std::cerr << "refused: " << refused.ShortDebugString() << "\n";
      }
      std::cerr << node_.log() << node_.ErrorLog();
    }
  }

  croft::v1::ApplicationPool Pool() const {
    croft::v1::ApplicationPool pool;
    pool.set_name("farms/main/pools/static");
    pool.set_organization("organizations/root");
    pool.set_identity(1);
    return pool;
  }
  void PutEstate() {
    croft::v1::Node node;
    node.set_name(control_.node());
    node.set_organization("organizations/root");
    control_.Put(v1::NODE, 1, &node);
    croft::v1::FileStore store;
    store.set_name("farms/main/stores/content");
    store.set_organization("organizations/root");
    store.set_path(node_.content());
    control_.Put(v1::STORE, 2, &store);
    const croft::v1::ApplicationPool pool = Pool();
    control_.Put(v1::POOL, kPoolUid, &pool);
    PutSite(kSiteUid, "a");
  }
  std::int64_t PutSite(std::int64_t uid, const std::string& name, std::uint16_t port = 0) {
    croft::v1::Site site;
    site.set_name("farms/main/sites/" + name);
    site.set_organization("organizations/root");
    croft::v1::Binding& binding = *site.add_bindings();
    binding.set_protocol(croft::v1::HTTP);
    binding.set_ip("*");
    binding.set_port(port != 0 ? port : port_);
    binding.set_host(name + ".example");
    croft::v1::Application& application = *site.add_applications();
    application.set_path("/");
    application.set_pool("farms/main/pools/static");
    application.mutable_root()->set_store("farms/main/stores/content");
    return control_.Put(v1::SITE, uid, &site);
  }
  bool Serves(const std::string& host = "a.example") {
    return Eventually([&] { return Get(port_, host, "/").status == 200; });
  }
  void StartServing() {
    node_.Start();
    ASSERT_TRUE(Serves());
    ASSERT_TRUE(Eventually([&] { return control_.serving() == 4; }));
  }
  // Kills the program's only process and waits for another one.
  void KillAndAwaitNext(const std::string& program) {
    const pid_t before = node_.Pid(program);
    ASSERT_GT(before, 0) << program;
    ASSERT_EQ(::kill(before, SIGKILL), 0);
    ASSERT_TRUE(Eventually([&] {
      const pid_t now = node_.Pid(program);
      return now != 0 && now != before;
    })) << program;
  }

  SmallControl control_;
  RunningNode node_;
  const std::uint16_t port_ = FreePort();
};

TEST_F(NodeTest, EnrolsOnceAndServesWhatControlSends) {
  ASSERT_NO_FATAL_FAILURE(StartServing());
  EXPECT_EQ(Get(port_, "a.example", "/").body, "page a");
  EXPECT_EQ(Get(port_, "nobody.example", "/").status, 400);
  EXPECT_EQ(control_.enrolments(), 1);
  EXPECT_EQ(control_.applied(), 4);

  const std::int64_t revision = PutSite(5, "b");
  EXPECT_TRUE(Eventually([&] { return control_.serving() == revision; }));
  EXPECT_EQ(Get(port_, "b.example", "/").status, 200);

  node_.Stop();
  node_.Start();
  EXPECT_TRUE(Serves("b.example"));
  EXPECT_TRUE(Eventually([&] { return control_.hellos() >= 2; }));
  EXPECT_EQ(control_.enrolments(), 1);
}

TEST_F(NodeTest, WarnsOfAJoinTokenThatEverybodyCanRead) {
  struct Case {
    mode_t mode;
    bool warns;
  };
  for (const Case& c : {Case{0644, true}, Case{0640, false}}) {
    RunningNode node;
    const std::string token = node.WriteFile("token", "x\n");
    ASSERT_EQ(::chmod(token.c_str(), c.mode), 0);
    node.Configure("control: " + control_.address());
    node.Configure("ca_file: " + token);
    node.Configure("join_token_file: " + token);
    node.Start();
    EXPECT_TRUE(Eventually([&] { return node.log().find("cannot enrol") != std::string::npos; }));
    EXPECT_EQ(node.log().find("join token can be read") != std::string::npos, c.warns) << c.mode;
  }
}

TEST_F(NodeTest, FailsNoRequestAndKeepsItsWorkersWhenTheAgentIsKilled) {
  ASSERT_NO_FATAL_FAILURE(StartServing());
  const std::vector<pid_t> workers = node_.Pids("croft-worker");
  const pid_t listener = node_.Pid("croft-listener");
  Load load(port_);
  for (int round = 0; round < 3; ++round) {
    ASSERT_NO_FATAL_FAILURE(KillAndAwaitNext("croft-agent"));
    const std::int64_t revision = PutSite(10 + round, "c" + std::to_string(round));
    EXPECT_TRUE(Eventually([&] { return control_.serving() == revision; }));
  }
  EXPECT_GT(load.good(), 0);
  EXPECT_EQ(load.StopAndCountBad(), 0);
  EXPECT_EQ(node_.Pids("croft-worker"), workers);
  EXPECT_EQ(node_.Pid("croft-listener"), listener);
  EXPECT_EQ(control_.enrolments(), 1);
}

TEST_F(NodeTest, ReplacesAKilledListenerAndRefusesNoConnection) {
  ASSERT_NO_FATAL_FAILURE(StartServing());
  const std::vector<pid_t> workers = node_.Pids("croft-worker");
  ASSERT_NO_FATAL_FAILURE(KillAndAwaitNext("croft-listener"));
  EXPECT_EQ(Get(port_, "a.example", "/").status, 200);  // waits in the backlog if it must
  EXPECT_EQ(node_.Pids("croft-worker"), workers);
  EXPECT_TRUE(Eventually([&] { return control_.HasEvent("listener_crashed"); }));
}

TEST_F(NodeTest, ReplacesAKilledWorker) {
  ASSERT_NO_FATAL_FAILURE(StartServing());
  ASSERT_NO_FATAL_FAILURE(KillAndAwaitNext("croft-worker"));
  EXPECT_TRUE(Serves());
  EXPECT_TRUE(Eventually([&] { return control_.HasEvent("worker_crashed"); }));
  const auto pool = static_cast<std::uint32_t>(counters::InstanceType::kPool);
  const auto started = static_cast<std::uint32_t>(counters::PoolCounter::kWorkersStartedTotal);
  EXPECT_TRUE(Eventually([&] { return control_.Counter(pool, started) == 2; }));
}

TEST_F(NodeTest, ServesAfterARestartWhileControlIsDown) {
  ASSERT_NO_FATAL_FAILURE(StartServing());
  node_.Stop();
  control_.Stop();
  const auto begin = std::chrono::steady_clock::now();
  node_.Start();
  EXPECT_TRUE(Serves());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  control_.Start();
  const std::int64_t revision = PutSite(5, "b");
  EXPECT_TRUE(Eventually([&] { return control_.serving() == revision; }));
}

TEST_F(NodeTest, StopsAndStartsAPool) {
  ASSERT_NO_FATAL_FAILURE(StartServing());
  croft::v1::ApplicationPool pool = Pool();
  pool.set_state(croft::v1::STOPPED);
  control_.Put(v1::POOL, kPoolUid, &pool);
  EXPECT_TRUE(Eventually([&] { return Get(port_, "a.example", "/").status == 503; }));
  EXPECT_TRUE(Eventually([&] { return node_.Pids("croft-worker").empty(); }));

  pool.set_state(croft::v1::STARTED);
  pool.set_start_mode(croft::v1::ALWAYS_RUNNING);
  pool.mutable_processes()->set_max_workers(2);
  control_.Put(v1::POOL, kPoolUid, &pool);
  EXPECT_TRUE(Eventually([&] { return node_.Pids("croft-worker").size() == 2; }));
  EXPECT_TRUE(Serves());
}

TEST_F(NodeTest, ReplacesWorkersForNewSettingsWithoutFailingARequest) {
  ASSERT_NO_FATAL_FAILURE(StartServing());
  const std::vector<pid_t> before = node_.Pids("croft-worker");
  Load load(port_);
  croft::v1::ApplicationPool pool = Pool();
  pool.set_max_concurrent_requests(64);
  control_.Put(v1::POOL, kPoolUid, &pool);
  EXPECT_TRUE(Eventually([&] {
    const std::vector<pid_t> now = node_.Pids("croft-worker");
    return now.size() == 1 && now != before;
  }));
  EXPECT_TRUE(Serves());
  EXPECT_EQ(load.StopAndCountBad(), 0);
  EXPECT_FALSE(control_.HasEvent("worker_crashed"));
}

TEST_F(NodeTest, KillsAWorkerThatDoesNotAnswerItsPing) {
  ASSERT_NO_FATAL_FAILURE(StartServing());
  croft::v1::ApplicationPool pool = Pool();
  pool.mutable_processes()->set_ping_interval(1000);
  pool.mutable_processes()->set_ping_response(1000);
  const std::int64_t revision = control_.Put(v1::POOL, kPoolUid, &pool);
  ASSERT_TRUE(Eventually([&] { return control_.applied() == revision; }));
  const pid_t hung = node_.Pid("croft-worker");
  ASSERT_EQ(::kill(hung, SIGSTOP), 0);
  EXPECT_TRUE(Eventually([&] { return control_.HasEvent("worker_ping_failed"); }));
  EXPECT_TRUE(Serves());
  EXPECT_NE(node_.Pid("croft-worker"), hung);
}

TEST_F(NodeTest, RefusesABadRecordAndAppliesTheRest) {
  ASSERT_NO_FATAL_FAILURE(StartServing());
  croft::v1::Site bad;
  bad.set_name("no name of a site");
  control_.Put(v1::SITE, 8, &bad);
  const std::int64_t revision = PutSite(9, "good");
  EXPECT_TRUE(Eventually([&] { return control_.serving() == revision; }));
  EXPECT_TRUE(Serves("good.example"));
  ASSERT_TRUE(Eventually([&] { return !control_.refused().empty(); }));
  EXPECT_EQ(control_.refused()[0].uid(), 8);
}

TEST_F(NodeTest, HealsAReplicaThatWasDamagedWhileItWasDown) {
  ASSERT_NO_FATAL_FAILURE(StartServing());
  node_.Stop();
  node_.DamageReplica();
  node_.Start();
  EXPECT_TRUE(Serves());
  EXPECT_TRUE(Eventually([&] { return control_.serving() == 4; }));
}

TEST_F(NodeTest, HealsAReplicaThatIsDamagedWhileItServes) {
  ASSERT_NO_FATAL_FAILURE(StartServing());
  node_.DamageReplica();
  const std::int64_t revision = PutSite(5, "b");
  EXPECT_TRUE(Eventually([&] { return control_.serving() == revision; }));
  EXPECT_TRUE(Serves("a.example"));
  EXPECT_TRUE(Serves("b.example"));
}

TEST_F(NodeTest, ClosesAnEndpointThatNoBindingNames) {
  ASSERT_NO_FATAL_FAILURE(StartServing());
  control_.Put(v1::SITE, kSiteUid, nullptr);
  EXPECT_TRUE(Eventually([&] { return Get(port_, "a.example", "/").status == 0; }));
  PutSite(kSiteUid, "a");
  EXPECT_TRUE(Serves());
}

TEST_F(NodeTest, TellsWithTheRevisionItServesWhereItCannotListen) {
  ASSERT_NO_FATAL_FAILURE(StartServing());
  const UniqueFd taken(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(taken.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(taken.get(), 1), 0);
  ASSERT_EQ(::getsockname(taken.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::uint16_t port = ntohs(address.sin_port);

  const std::int64_t revision = PutSite(5, "b", port);
  ASSERT_TRUE(Eventually([&] { return control_.serving() == revision; }));
  EXPECT_THAT(control_.missing_endpoints(), testing::Contains("*:" + std::to_string(port)));
  EXPECT_THAT(control_.problem(), testing::HasSubstr("cannot listen on 127.0.0.1:"));
  EXPECT_TRUE(Serves());

  ASSERT_EQ(::shutdown(taken.get(), SHUT_RDWR), 0);
  ASSERT_TRUE(Eventually([&] { return control_.missing_endpoints().empty(); }));
  EXPECT_EQ(control_.serving(), revision);
  EXPECT_EQ(control_.problem(), "");
  EXPECT_EQ(Get(port, "b.example", "/").status, 200);
}

TEST_F(NodeTest, AsksBeforeMostSitesVanishWithAnotherHistoryAndObeysTheAnswer) {
  for (std::int64_t uid = 10; uid < 22; ++uid) {
    PutSite(uid, "s" + std::to_string(uid));
  }
  node_.Start();
  ASSERT_TRUE(Serves("s21.example"));
  control_.BeginAnotherHistory();
  PutEstate();
  ASSERT_TRUE(Eventually([&] { return control_.vanishing().sites() == 12; }));
  EXPECT_EQ(control_.vanishing().held(), 13);
  ASSERT_TRUE(Eventually([&] { return control_.HasEvent("sites_would_vanish"); }));
  const std::string way_out = "croft resume node farms/main/nodes/web1 --expect-count 12";
  EXPECT_TRUE(Eventually([&] { return control_.problem().find(way_out) != std::string::npos; }));
  EXPECT_EQ(Get(port_, "s21.example", "/").status, 200);

  control_.Accept(control_.vanishing());
  EXPECT_TRUE(Eventually([&] { return Get(port_, "s21.example", "/").status == 400; }));
  EXPECT_TRUE(Eventually([&] { return control_.serving() == 4; }));
  EXPECT_TRUE(Serves());
  EXPECT_EQ(control_.vanishing().sites(), 0);
}

TEST_F(NodeTest, CountsRequestsAcrossAListenersDeath) {
  ASSERT_NO_FATAL_FAILURE(StartServing());
  const auto node = static_cast<std::uint32_t>(counters::InstanceType::kNode);
  const auto requests = static_cast<std::uint32_t>(counters::NodeCounter::kRequestsTotal);
  ASSERT_TRUE(Eventually([&] { return control_.Counter(node, requests) > 0; }));
  const std::int64_t before = control_.Counter(node, requests);
  ASSERT_NO_FATAL_FAILURE(KillAndAwaitNext("croft-listener"));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Get(port_, "a.example", "/").status, 200);
  }
  EXPECT_TRUE(Eventually([&] { return control_.Counter(node, requests) >= before + 5; }));
}

}  // namespace
}  // namespace croft::node::agent
