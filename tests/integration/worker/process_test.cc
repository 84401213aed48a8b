// The worker as a process: its control channel, its socket, its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "tests/integration/worker/worker_process.h"

namespace croft::node::worker {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

v1::AgentToWorker Ping(std::uint64_t sequence) {
  v1::AgentToWorker message;
  message.mutable_ping()->set_sequence(sequence);
  return message;
}

v1::AgentToWorker DrainNow() {
  v1::AgentToWorker message;
  message.mutable_drain();
  return message;
}

TEST(WorkerProcess, AnswersPings) {
  WorkerProcess worker;
  worker.Send(Ping(41));
  worker.Send(Ping(42));
  EXPECT_EQ(worker.Receive()->pong().sequence(), 41U);
  EXPECT_EQ(worker.Receive()->pong().sequence(), 42U);
}

TEST(WorkerProcess, DrainsWhatIsInFlightAndExits) {
  WorkerProcess worker;
  worker.WriteFile("site/large.txt", std::string(4 * kMebibyte, 'x'));
  Http2Client client(worker.socket_path(), {.stream_window = 65'535});
  const std::int32_t stream = client.Submit(WorkerProcess::Request(
      "GET", "/large.txt", worker.settings(), {.settings_number = 1, .root = "site"}));
  ASSERT_TRUE(client.RunUntil([&] { return client.response(stream).status == 200; }));
  worker.Send(DrainNow());
  const ClientResponse response = client.Await(stream);
  EXPECT_EQ(response.body_bytes, 4 * kMebibyte);
  EXPECT_EQ(response.error_code, 0U);
  EXPECT_TRUE(client.RunUntil([&] { return client.closed(); }));
  EXPECT_TRUE(client.goaway());
  EXPECT_EQ(worker.AwaitExit(), 0);
}

TEST(WorkerProcess, ServesWhatComesBetweenTheNoticeAndTheEnd) {
  WorkerProcess worker;
  worker.WriteFile("site/page.txt", "text");
  EXPECT_EQ(worker.Get("/page.txt").status, 200);
  worker.Send(DrainNow());
  ASSERT_TRUE(worker.client().RunUntil([&] { return worker.client().goaway(); }));
  EXPECT_EQ(worker.AwaitExit(), 0);
}

TEST(WorkerProcess, EndsAtSigtermWithoutWaitingForEver) {
  WorkerProcess worker;
  worker.WriteFile("site/page.txt", "text");
  EXPECT_EQ(worker.Get("/page.txt").status, 200);
  ::kill(worker.pid(), SIGTERM);
  EXPECT_EQ(worker.AwaitExit(), 0);
}

TEST(WorkerProcess, RefusesPeersThatAreNotTheListener) {
  WorkerProcess mine({.separate_identities = true, .listener_uid = ::geteuid()});
  mine.WriteFile("site/page.txt", "text");
  EXPECT_EQ(mine.Get("/page.txt").status, 200);
  WorkerProcess others({.separate_identities = true, .listener_uid = ::geteuid() + 1});
  others.WriteFile("site/page.txt", "text");
  EXPECT_EQ(others.Get("/page.txt").status, 0);
  EXPECT_TRUE(others.client().closed());
}

TEST(WorkerProcess, RefusesTargetsItCannotTrust) {
  WorkerProcess worker;
  worker.WriteFile("site/page.txt", "text");
  const auto ask = [&](const Headers& headers) {
    return worker.client().Await(worker.client().Submit(headers)).status;
  };
  const Headers good =
      WorkerProcess::Request("GET", "/page.txt", worker.settings(), {.root = "site"});
  Headers unknown_number = good;
  unknown_number[5].second = "9,0,site";
  EXPECT_EQ(ask(unknown_number), 500);
  Headers no_target(good.begin(), good.end() - 1);
  EXPECT_EQ(ask(no_target), 500);
  Headers twice = good;
  twice.push_back(good[5]);
  EXPECT_EQ(ask(twice), 400);
  Headers relative_store = good;
  relative_store[4].second =
      link::EncodeSettings(11, WorkerProcess::DefaultSettings("relative/path"));
  relative_store[5].second = "11,0,site";
  EXPECT_EQ(ask(relative_store), 500);
  Headers large = good;
  large.emplace_back("x-large", std::string(100'000, 'x'));
  EXPECT_NE(ask(large), 200);
  EXPECT_EQ(worker.Get("/page.txt").status, 200);
}

TEST(WorkerProcess, SurvivesAPeerThatTalksNonsense) {
  WorkerProcess worker;
  worker.WriteFile("site/page.txt", "text");
  for (const char* nonsense : {"GET / HTTP/1.1\r\n\r\n",
                               "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nxxxxxxxxx", "\x16\x03\x01\x02"}) {
    Http2Client plain(worker.socket_path());
    ASSERT_FALSE(plain.closed());
    EXPECT_TRUE(plain.SendRaw(nonsense));
    plain.RunUntil([&] { return plain.closed(); }, std::chrono::milliseconds(300));
  }
  EXPECT_EQ(worker.Get("/page.txt").status, 200);
}

}  // namespace
}  // namespace croft::node::worker
