// The whole path on a node: visitor, listener, croft-worker, files.
#include "tests/integration/listener/real_worker.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/integration/listener/listener_node.h"
#include "tests/integration/listener/visitor.h"

namespace croft::node::listener::test {
namespace {

class RealWorkerTest : public testing::Test {
 protected:
  RealWorkerTest() { node_.PutSite(ListenerNode::kSite, "site"); }
  void WriteFile(const std::string& name, const std::string& bytes) {
    std::ofstream(node_.directory() + "/content/site/" + name, std::ios::binary) << bytes;
  }
  ListenerNode node_;
};

TEST_F(RealWorkerTest, ServesFilesByteForByte) {
  std::mt19937 random(7);
  const RealWorker worker(node_.SocketPath(1), 1);
  node_.SetWorkers({1});
  WriteFile("index.html", "<h1>home</h1>");
  Visitor visitor(node_.port());
  EXPECT_EQ(visitor.Ask(Get("/")).body, "<h1>home</h1>");
  for (const std::size_t size : {0u, 1u, 16'384u, 65'537u, 262'144u, 5'000'000u}) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(random());
    }
    WriteFile("file.bin", bytes);
    const Response response = visitor.Ask(Get("/file.bin"));
    ASSERT_EQ(response.status, 200) << size;
    EXPECT_EQ(response.body, bytes) << size;
  }
  const Response range = visitor.Ask(Get("/file.bin", "site.example", "Range: bytes=10-19\r\n"));
  EXPECT_EQ(range.status, 206);
  EXPECT_EQ(range.body.size(), 10u);
  const Response first = visitor.Ask(Get("/index.html"));
  const Response unchanged = visitor.Ask(
      Get("/index.html", "site.example", "If-None-Match: " + first.header.at("etag") + "\r\n"));
  EXPECT_EQ(unchanged.status, 304);
  EXPECT_EQ(visitor.Ask(Get("/nothing")).status, 404);
  EXPECT_EQ(visitor.Ask("HEAD /index.html HTTP/1.1\r\nHost: site.example\r\n\r\n", true).status,
            200);
  EXPECT_EQ(visitor.Ask(Get("/index.html")).body, "<h1>home</h1>");
}

TEST_F(RealWorkerTest, KeepsLongFilesExactForVisitorsWhoPauseBesideOnesWhoLeave) {
  const RealWorker worker(node_.SocketPath(1), 1);
  node_.SetWorkers({1});
  std::string bytes;
  for (int i = 0; bytes.size() < 30'000'000; ++i) {
    bytes += std::to_string(i) + "\n";
  }
  WriteFile("long.txt", bytes);
  WriteFile("short.txt", "short");
  std::vector<std::unique_ptr<Visitor>> pausing;
  std::vector<std::unique_ptr<Visitor>> leaving;
  for (int i = 0; i < 3; ++i) {
    pausing.push_back(std::make_unique<Visitor>(node_.port()));
    leaving.push_back(std::make_unique<Visitor>(node_.port()));
    pausing.back()->Send(Get("/long.txt"));
    leaving.back()->Send(Get("/long.txt"));
    EXPECT_FALSE(leaving.back()->ReadSome(100).empty());
  }
  for (auto& visitor : leaving) {
    visitor->Reset();
  }
  // Those who read nothing yet fill their sockets; others are served meanwhile.
  Visitor other(node_.port());
  EXPECT_EQ(other.Ask(Get("/short.txt")).body, "short");
  EXPECT_TRUE(other.Ask(Get("/long.txt")).body == bytes);
  for (auto& visitor : pausing) {
    EXPECT_TRUE(visitor->Read().body == bytes);
    EXPECT_EQ(visitor->Ask(Get("/short.txt")).body, "short");
  }
}

TEST_F(RealWorkerTest, CutsOnlyWhatHadBegunWhenAWorkerIsKilled) {
  WriteFile("page.html", std::string(20'000, 'p'));
  auto first = std::make_unique<RealWorker>(node_.SocketPath(1), 1);
  node_.SetWorkers({1});
  std::vector<std::unique_ptr<Visitor>> visitors;
  for (int i = 0; i < 50; ++i) {
    visitors.push_back(std::make_unique<Visitor>(node_.port()));
  }
  for (int round = 0; round < 6; ++round) {
    for (auto& visitor : visitors) {
      visitor->Send(Get("/page.html"));
    }
    if (round == 3) {
      first->Kill();
      // The agent's part: the lost worker leaves the list, another comes.
      node_.SetWorkers({});
      first = std::make_unique<RealWorker>(node_.SocketPath(2), 2);
      node_.SetWorkers({2});
    }
    for (auto& visitor : visitors) {
      const Response response = visitor->Read();
      ASSERT_EQ(response.status, 200) << round;
      if (!response.complete) {
        // It had begun when the worker died: cut, never continued by another.
        ASSERT_EQ(round, 3);
        visitor = std::make_unique<Visitor>(node_.port());
      }
    }
  }
}

}  // namespace
}  // namespace croft::node::listener::test
