// Life under a launcher: start, supervision, adoption, end.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstring>

#include "node/counters/counter_memory.h"
#include "proto/base/random.h"
#include "tests/integration/launcher/launched_node.h"

namespace croft::node::launcher {
namespace {

using testing::HasSubstr;

std::uint16_t FreePort() {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

bool CanConnect(std::uint16_t port) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
}

// Tells two descriptors of one open file from those of two.
std::pair<dev_t, ino_t> FileOf(const UniqueFd& fd) {
  struct stat facts {};
  EXPECT_EQ(::fstat(fd.get(), &facts), 0);
  return {facts.st_dev, facts.st_ino};
}

class LauncherTest : public testing::Test {
 protected:
  void StartNode() {
    node_.StartLauncher();
    node_.AwaitAgent();
  }

  LaunchedNode node_;
};

TEST_F(LauncherTest, StartsTheAgentAgainAfterAKillAndLeavesTheOthersAlone) {
  StartNode();
  const pid_t first_agent = node_.agent();
  const Answer worker = node_.StartWorker(0, 4711);
  const Answer listener = node_.StartListener();
  const std::uint16_t port = FreePort();
  const Answer endpoint = node_.OpenEndpoint("127.0.0.1", port, 2);
  ASSERT_EQ(endpoint.descriptors.size(), 2u) << endpoint.message.error();

  ::kill(first_agent, SIGKILL);
  node_.AwaitAgent();
  EXPECT_NE(node_.agent(), first_agent);
  EXPECT_TRUE(CanConnect(port));

  auto inventory = node_.Inventory();
  ASSERT_EQ(inventory.size(), 4u);
  EXPECT_EQ(inventory[0].message.process().SerializeAsString(),
            worker.message.process().SerializeAsString());
  EXPECT_EQ(inventory[1].message.process().SerializeAsString(),
            listener.message.process().SerializeAsString());
  for (int process = 0; process < 2; ++process) {
    const Answer& before = process == 0 ? worker : listener;
    ASSERT_EQ(inventory[process].descriptors.size(), 2u);
    EXPECT_EQ(FileOf(inventory[process].descriptors[0]), FileOf(before.descriptors[0]));
    EXPECT_EQ(FileOf(inventory[process].descriptors[1]), FileOf(before.descriptors[1]));
  }
  EXPECT_EQ(inventory[2].message.endpoint().port(), port);
  ASSERT_EQ(inventory[2].descriptors.size(), 2u);
  EXPECT_EQ(FileOf(inventory[2].descriptors[0]), FileOf(endpoint.descriptors[0]));
  EXPECT_FALSE(IsDead(worker.message.process().pid()));
  EXPECT_FALSE(IsDead(listener.message.process().pid()));
}

TEST_F(LauncherTest, AnAdoptedChannelStillReachesItsWorker) {
  StartNode();
  node_.StartWorker(0);
  ::kill(node_.agent(), SIGKILL);
  node_.AwaitAgent();
  auto inventory = node_.Inventory();
  ASSERT_EQ(inventory.size(), 2u);
  link::Channel channel(std::move(inventory[0].descriptors[0]));
  EXPECT_TRUE(NextFrom(channel).has_ready()) << "said while no agent listened";
  v1::AgentToWorker ping;
  ping.mutable_ping()->set_sequence(99);
  ASSERT_TRUE(channel.Send(ping).ok());
  EXPECT_EQ(NextFrom(channel).pong().sequence(), 99u);
}

TEST_F(LauncherTest, TellsHowAProcessEndedAndForgetsIt) {
  StartNode();
  Answer worker = node_.StartWorker(2, 5);
  const v1::Process process = worker.message.process();
  EXPECT_EQ(process.socket_path(),
            (node_.data_dir() / "run/w" / (std::to_string(process.process_id()) + ".sock")));
  EXPECT_TRUE(std::filesystem::exists(process.socket_path()));
  link::Channel channel(std::move(worker.descriptors[0]));
  v1::AgentToWorker drain;
  drain.mutable_drain();
  ASSERT_TRUE(channel.Send(drain).ok());

  const v1::ProcessExited exited = node_.Next().message.exited();
  EXPECT_EQ(exited.process_id(), process.process_id());
  EXPECT_EQ(exited.pid(), process.pid());
  EXPECT_EQ(exited.kind(), v1::WORKER);
  EXPECT_EQ(exited.pool_uid(), 5);
  EXPECT_TRUE(WIFEXITED(exited.wait_status()));
  EXPECT_EQ(WEXITSTATUS(exited.wait_status()), 7);
  EXPECT_FALSE(std::filesystem::exists(process.socket_path()));
  EXPECT_EQ(node_.Inventory().size(), 1u);
}

TEST_F(LauncherTest, SignalsWhatItIsAskedTo) {
  StartNode();
  const Answer worker = node_.StartWorker(0);
  v1::LauncherRequest request;
  request.mutable_kill()->set_process_id(worker.message.process().process_id());
  request.mutable_kill()->set_signal(SIGKILL);
  EXPECT_EQ(node_.Ask(request).message.error(), "");
  const v1::ProcessExited exited = node_.Next().message.exited();
  EXPECT_TRUE(WIFSIGNALED(exited.wait_status()));
  EXPECT_EQ(WTERMSIG(exited.wait_status()), SIGKILL);
  EXPECT_THAT(node_.Ask(request).message.error(), HasSubstr("no process"));
}

TEST_F(LauncherTest, AllDieWithTheLauncher) {
  StartNode();
  const pid_t worker = node_.StartWorker(0).message.process().pid();
  const pid_t listener = node_.StartListener().message.process().pid();
  const pid_t agent = node_.agent();
  ::kill(node_.launcher(), SIGKILL);
  for (const pid_t pid : {agent, listener, worker}) {
    EXPECT_TRUE(Eventually([pid] { return IsDead(pid); })) << pid;
  }
}

TEST_F(LauncherTest, EndsInOrderAndLeavesNothing) {
  StartNode();
  Answer worker = node_.StartWorker(0);
  Answer listener = node_.StartListener();
  link::Channel to_worker(std::move(worker.descriptors[0]));
  link::Channel to_listener(std::move(listener.descriptors[0]));
  EXPECT_TRUE(NextFrom(to_worker).has_ready());
  EXPECT_TRUE(NextFrom(to_listener).has_ready());
  ::kill(node_.launcher(), SIGTERM);
  const int status = node_.AwaitEnd();
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0) << node_.log();
  EXPECT_EQ(NextFrom(to_listener).event().kind(), "terminated");
  EXPECT_EQ(NextFrom(to_worker).event().kind(), "terminated");
  const std::string log = node_.log();
  EXPECT_LT(log.find("the agent ended"), log.find("msg=ended program=croft-listener"));
  EXPECT_LT(log.find("msg=ended program=croft-listener"),
            log.find("msg=ended program=croft-worker"));
  EXPECT_TRUE(std::filesystem::is_empty(node_.data_dir() / "run/w"));
}

TEST_F(LauncherTest, AStoppedWorkerDoesNotHoldUpAHastyEnd) {
  StartNode();
  ::kill(node_.StartWorker(0).message.process().pid(), SIGSTOP);
  ::kill(node_.launcher(), SIGTERM);
  ASSERT_TRUE(Eventually([this] { return IsDead(node_.agent()); }));
  ::kill(node_.launcher(), SIGTERM);
  EXPECT_EQ(node_.AwaitEnd(), 0) << node_.log();
}

TEST_F(LauncherTest, KeepsOneCounterMemoryForAllListenersAndOneForEachWorker) {
  StartNode();
  const Answer first = node_.StartListener();
  const auto memory = counters::CounterMemory::Map(first.descriptors[1].get(), true);
  ASSERT_TRUE(memory.ok()) << memory.status();
  const auto row = (*memory)->GetRow(counters::InstanceType::kSite, 1);
  row.Add(counters::SiteCounter::kRequestsTotal, 3);
  row.Add(counters::SiteCounter::kRequestsActive, 1);
  ::kill(first.message.process().pid(), SIGKILL);
  EXPECT_TRUE(node_.Next().message.has_exited());
  const Answer second = node_.StartListener();
  EXPECT_EQ(FileOf(second.descriptors[1]), FileOf(first.descriptors[1]));
  EXPECT_EQ(row.Get(counters::SiteCounter::kRequestsTotal), 3);
  EXPECT_EQ(row.Get(counters::SiteCounter::kRequestsActive), 0) << "went with the listener";
  const Answer worker = node_.StartWorker(0);
  const Answer other = node_.StartWorker(0);
  EXPECT_NE(FileOf(worker.descriptors[1]), FileOf(other.descriptors[1]));
}

TEST_F(LauncherTest, BindsAnEndpointOnceAndClosesItWhenAsked) {
  StartNode();
  const std::uint16_t port = FreePort();
  const Answer first = node_.OpenEndpoint("127.0.0.1", port, 3);
  ASSERT_EQ(first.descriptors.size(), 3u) << first.message.error();
  const Answer again = node_.OpenEndpoint("127.0.0.1", port, 1);
  ASSERT_EQ(again.descriptors.size(), 3u);
  EXPECT_EQ(FileOf(again.descriptors[0]), FileOf(first.descriptors[0]));
  const Answer any = node_.OpenEndpoint("0.0.0.0", port, 1);
  EXPECT_EQ(any.descriptors.size(), 1u) << "any address beside one: " << any.message.error();
  EXPECT_TRUE(CanConnect(port));

  v1::LauncherRequest close;
  close.mutable_close_endpoint()->set_ip("127.0.0.1");
  close.mutable_close_endpoint()->set_port(port);
  EXPECT_EQ(node_.Ask(close).message.endpoint().port(), port);
  EXPECT_EQ(node_.Ask(close).message.error(), "") << "also when it is closed already";
  EXPECT_EQ(node_.Inventory().size(), 2u);
}

TEST_F(LauncherTest, NamesWhoHasTheAddress) {
  StartNode();
  const std::uint16_t port = FreePort();
  LaunchedNode other;
  other.StartLauncher();
  other.AwaitAgent();
  ASSERT_EQ(other.OpenEndpoint("127.0.0.1", port, 2).message.error(), "");
  // Shared sockets would let both bind, and the kernel would split the visitors between two nodes.
  const std::string error = node_.OpenEndpoint("127.0.0.1", port, 2).message.error();
  EXPECT_THAT(error,
              HasSubstr("in use by croft-launcher (pid " + std::to_string(other.launcher()) + ")"));
}

TEST_F(LauncherTest, RefusesWhatItShouldNotDo) {
  StartNode();
  v1::LauncherRequest agent;
  agent.mutable_start()->set_kind(v1::AGENT);
  v1::LauncherRequest unknown_kind;
  unknown_kind.mutable_start()->set_kind(static_cast<v1::ProcessKind>(77));
  v1::LauncherRequest signal;
  signal.mutable_kill()->set_process_id(1);
  signal.mutable_kill()->set_signal(SIGSTOP);
  for (const v1::LauncherRequest& request : {agent, unknown_kind, signal, v1::LauncherRequest()}) {
    EXPECT_NE(node_.Ask(request).message.error(), "") << request.ShortDebugString();
  }
  EXPECT_THAT(node_.StartWorker(4).message.error(), HasSubstr("outside of the identity range"));
  EXPECT_NE(node_.StartWorker(0xffffffff).message.error(), "");
  EXPECT_NE(node_.StartWorker(0xffffffff - kFirst - 15).message.error(), "");
  EXPECT_EQ(node_.StartWorker(3).message.error(), "");
  for (const auto& [ip, port, count] :
       {std::tuple("localhost", 80u, 1u), std::tuple("", 80u, 1u), std::tuple("127.0.0.1", 0u, 1u),
        std::tuple("127.0.0.1", 65536u, 1u), std::tuple("127.0.0.1", 18080u, 0u),
        std::tuple("127.0.0.1", 18080u, 65u), std::tuple("203.0.113.77", 18080u, 1u)}) {
    EXPECT_NE(node_.OpenEndpoint(ip, port, count).message.error(), "") << ip << ' ' << port;
  }
}

TEST_F(LauncherTest, SurvivesRubbishFromTheAgent) {
  StartNode();
  for (int i = 0; i < 200; ++i) {
    // A first byte that begins no field; two hexadecimal digits alone could be an empty request.
    const std::string rubbish = "\x07" + RandomHex(1 + i * 7);
    ::send(node_.channel().fd(), rubbish.data(), rubbish.size(), MSG_NOSIGNAL);
  }
  v1::LauncherRequest unnumbered;
  unnumbered.mutable_get_inventory();
  node_.Send(unnumbered);
  // Descriptors that nobody asked for are closed.
  node_.Send(unnumbered, std::vector<int>(60, STDERR_FILENO));
  for (;;) {
    const Answer answer = node_.Next();
    EXPECT_NE(answer.message.error(), "");
    if (answer.message.error().find("id other than 0") != std::string::npos) {
      break;
    }
  }
  node_.Next();
  EXPECT_EQ(node_.StartWorker(0).message.error(), "");
}

TEST_F(LauncherTest, AnOversizedDatagramEndsTheAgentOnly) {
  StartNode();
  const pid_t worker = node_.StartWorker(0).message.process().pid();
  const pid_t agent = node_.agent();
  const std::string large(link::kMessageBytesMax + 1, 'x');
  ASSERT_GT(::send(node_.channel().fd(), large.data(), large.size(), MSG_NOSIGNAL), 0);
  node_.AwaitAgent();
  EXPECT_TRUE(IsDead(agent));
  EXPECT_FALSE(IsDead(worker));
  EXPECT_EQ(node_.Inventory().size(), 2u);
}

TEST_F(LauncherTest, AnAgentThatDoesNotReadGetsEverythingLater) {
  StartNode();
  node_.StartWorker(0);
  v1::LauncherRequest request;
  request.mutable_get_inventory();
  request.set_request_id(1);
  constexpr int kInventories = 400;
  int sent = 0;
  int ends = 0;
  while (ends < kInventories) {
    while (sent < kInventories && node_.channel().Send(request).ok()) {
      ++sent;
    }
    ends += node_.Next().message.has_inventory_end() ? 1 : 0;
    ASSERT_FALSE(HasFailure());
  }
}

TEST_F(LauncherTest, OneLauncherPerDataDirectory) {
  StartNode();
  const pid_t first = node_.launcher();
  node_.StartLauncher();
  EXPECT_NE(node_.AwaitEnd(), 0);
  EXPECT_THAT(node_.log(),
              HasSubstr("in use by another croft-launcher (pid " + std::to_string(first) + ")"));
  ::kill(first, SIGKILL);
  ::waitpid(first, nullptr, 0);
}

}  // namespace
}  // namespace croft::node::launcher
