// What the listener refuses to read, and how long it waits.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/integration/listener/listener_node.h"
#include "tests/integration/listener/scripted_worker.h"
#include "tests/integration/listener/visitor.h"

namespace croft::node::listener::test {
namespace {

croft::v1::Settings ShortTimeouts() {
  croft::v1::Settings settings;
  settings.mutable_timeouts()->set_idle(1000);
  settings.mutable_timeouts()->set_header(1000);
  settings.mutable_timeouts()->set_body(1000);
  settings.mutable_timeouts()->set_send(1000);
  settings.mutable_timeouts()->set_queue(1000);
  return settings;
}

struct Refused {
  const char* name;
  std::string bytes;
  int status;
};

std::string Post(const std::string& fields, const std::string& body = "") {
  return "POST /echo HTTP/1.1\r\nHost: site.example\r\n" + fields + "\r\n" + body;
}

// What could be read in two ways, or in none.
const std::vector<Refused> kRefused{
    {"LengthBesideChunked",
     Post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400},
    {"ChunkedBesideLength",
     Post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"), 400},
    {"TwoLengths", Post("Content-Length: 5\r\nContent-Length: 6\r\n", "hello"), 400},
    {"TwoEqualLengths", Post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"), 400},
    {"LengthList", Post("Content-Length: 5, 5\r\n", "hello"), 400},
    {"SignedLength", Post("Content-Length: +5\r\n", "hello"), 400},
    {"NegativeLength", Post("Content-Length: -5\r\n", "hello"), 400},
    {"HexLength", Post("Content-Length: 0x5\r\n", "hello"), 400},
    {"EmptyLength", Post("Content-Length: \r\n"), 400},
    {"OverflowingLength", Post("Content-Length: 99999999999999999999\r\n"), 400},
    {"UnknownCoding", Post("Transfer-Encoding: gzip, chunked\r\n"), 501},
    {"IdentityCoding", Post("Transfer-Encoding: identity\r\n"), 501},
    {"ChunkedWithTabbedWord", Post("Transfer-Encoding: \tchunked, x\r\n"), 501},
    {"TwoCodings", Post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400},
    {"CodingInHttp10",
     "POST /echo HTTP/1.0\r\nHost: site.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     400},
    {"BadChunkSize", Post("Transfer-Encoding: chunked\r\n", "zz\r\nhello\r\n0\r\n\r\n"), 400},
    {"ChunkSizeWithPrefix", Post("Transfer-Encoding: chunked\r\n", "0x5\r\nhello\r\n0\r\n\r\n"),
     400},
    {"HugeChunkSize", Post("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n"), 400},
    {"ChunkWithoutItsEnd", Post("Transfer-Encoding: chunked\r\n", "3\r\nabcXX0\r\n\r\n"), 400},
    {"BareLineFeed", "GET / HTTP/1.1\nHost: site.example\n\n", 400},
    {"BareLineFeedInHeader", "GET / HTTP/1.1\r\nHost: site.example\nX: 1\r\n\r\n", 400},
    {"BareCarriageReturn", "GET / HTTP/1.1\r\nHost: site.example\rX: 1\r\n\r\n", 400},
    {"FoldedLine", "GET / HTTP/1.1\r\nHost: site.example\r\nX: 1\r\n 2\r\n\r\n", 400},
    {"FoldedFirstLine", "GET / HTTP/1.1\r\n Host: site.example\r\n\r\n", 400},
    {"SpaceBeforeColon", "GET / HTTP/1.1\r\nHost: site.example\r\nContent-Length : 5\r\n\r\n", 400},
    {"SpaceInName", "GET / HTTP/1.1\r\nHost: site.example\r\nX Y: 5\r\n\r\n", 400},
    {"NoColon", "GET / HTTP/1.1\r\nHost: site.example\r\nnonsense\r\n\r\n", 400},
    {"NulInValue", std::string("GET / HTTP/1.1\r\nHost: site.example\r\nX: a\0b\r\n\r\n", 46), 400},
    {"NoHost", "GET / HTTP/1.1\r\n\r\n", 400},
    {"TwoHosts", "GET / HTTP/1.1\r\nHost: site.example\r\nHost: site.example\r\n\r\n", 400},
    {"BadHost", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
    {"HostWithPath", "GET / HTTP/1.1\r\nHost: site.example/x\r\n\r\n", 400},
    {"UnknownHost", "GET / HTTP/1.1\r\nHost: other.example\r\n\r\n", 400},
    {"UnknownVersion", "GET / HTTP/3.0\r\nHost: site.example\r\n\r\n", 400},
    {"NoVersion", "GET /\r\nHost: site.example\r\n\r\n", 400},
    {"TwoSpaces", "GET  / HTTP/1.1\r\nHost: site.example\r\n\r\n", 400},
    {"RelativeTarget", "GET index.html HTTP/1.1\r\nHost: site.example\r\n\r\n", 400},
    {"OtherScheme", "GET ftp://site.example/ HTTP/1.1\r\nHost: site.example\r\n\r\n", 400},
    {"Fragment", "GET /a#b HTTP/1.1\r\nHost: site.example\r\n\r\n", 400},
    {"StarForGet", "GET * HTTP/1.1\r\nHost: site.example\r\n\r\n", 400},
    {"Connect", "CONNECT site.example:80 HTTP/1.1\r\nHost: site.example\r\n\r\n", 405},
    {"Trace", "TRACE / HTTP/1.1\r\nHost: site.example\r\n\r\n", 405},
    {"OddExpectation", Post("Expect: magic\r\nContent-Length: 1\r\n", "x"), 417},
    {"AboveTheRoot", Get("/../../etc/passwd"), 400},
    {"EncodedSlash", Get("/a%2f..%2fb"), 400},
    {"EncodedNul", Get("/a%00b"), 400},
    {"DoubleEncoded", Get("/a%252e"), 400},
    {"LongHeader", Get("/", "site.example", "X: " + std::string(17'000, 'a') + "\r\n"), 431},
    {"LongTarget", Get("/" + std::string(17'000, 'a')), 431},
    {"LongUrl", Get("/" + std::string(5'000, 'a')), 414},
    {"LongQuery", Get("/?" + std::string(3'000, 'a')), 414},
    {"Binary", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 15), 400},
    {"Http2Preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
};

std::string ManyFields(int count) {
  std::string fields;
  for (int i = 0; i < count; ++i) {
    fields += "X-" + std::to_string(i) + ": 1\r\n";
  }
  return fields;
}

TEST(Protocol, RefusesWhatCouldBeReadInTwoWays) {
  ListenerNode node;
  ScriptedWorker worker(node.SocketPath(1));
  node.PutSite(ListenerNode::kSite, "site");
  node.SetWorkers({1});
  for (const Refused& refused : kRefused) {
    SCOPED_TRACE(refused.name);
    Visitor visitor(node.port());
    EXPECT_EQ(visitor.Ask(refused.bytes + Get("/smuggled")).status, refused.status);
  }
  Visitor many(node.port());
  EXPECT_EQ(many.Ask(Get("/", "site.example", ManyFields(101))).status, 431);
  Visitor visitor(node.port());
  EXPECT_EQ(visitor.Ask(Get("/", "site.example", ManyFields(90))).status, 200);
  EXPECT_TRUE(node.LogHas("error.log", " Hostname "));
  EXPECT_TRUE(node.LogHas("error.log", " NoSite "));
}

TEST(Protocol, AcceptsWhatIsOnlyUnusual) {
  ListenerNode node;
  ScriptedWorker worker(node.SocketPath(1));
  node.PutSite(ListenerNode::kSite, "site");
  node.SetWorkers({1});
  const std::vector<std::string> accepted{
      "\r\n\r\nGET /x HTTP/1.1\r\nHost: site.example\r\n\r\n",
      "GET http://site.example/x HTTP/1.1\r\nHost: other.example\r\n\r\n",
      "GET HTTP://SITE.example:80 HTTP/1.1\r\nHost: site.example\r\n\r\n",
      "GET /x HTTP/1.1\r\nhOST:SITE.EXAMPLE.:8080\r\n\r\n",
      "BREW /x HTTP/1.1\r\nHost: site.example\r\n\r\n",
      "OPTIONS * HTTP/1.1\r\nHost: site.example\r\n\r\n",
      "GET /x?a=%2f&b=\xc3\xa4 HTTP/1.1\r\nHost: site.example\r\nX:\r\n\r\n",
      "GET /\xc3\xa4/%C3%A4 HTTP/1.1\r\nHost: site.example\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: site.example\r\nContent-Length: 0\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: site.example\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n"};
  Visitor visitor(node.port());
  for (const std::string& bytes : accepted) {
    EXPECT_EQ(visitor.Ask(bytes).status, 200) << bytes;
  }
  // Byte by byte.
  for (const char byte : Get("/slow")) {
    visitor.Send({&byte, 1});
  }
  EXPECT_EQ(visitor.Read().body, "hello from /slow");
}

TEST(Protocol, EndsIdleSlowAndStuckConnections) {
  ListenerNode node(ShortTimeouts());
  ScriptedWorker worker(node.SocketPath(1));
  node.PutSite(ListenerNode::kSite, "site");
  node.SetWorkers({1});
  Visitor silent(node.port());
  Visitor idle(node.port());
  EXPECT_EQ(idle.Ask(Get("/x")).status, 200);
  Visitor slow(node.port());
  slow.Send("GET / HTTP/1.1\r\nHost: si");
  Visitor stuck(node.port());
  stuck.Send(Post("Content-Length: 10\r\n", "hello"));
  Visitor lazy(node.port());
  lazy.Send(Get("/bytes/50000000"));
  EXPECT_TRUE(silent.SeesEnd());
  EXPECT_TRUE(idle.SeesEnd());
  EXPECT_EQ(slow.Read().status, 408);
  EXPECT_EQ(stuck.Read().status, 408);
  for (const char* reason : {"Timer_ConnectionIdle", "Timer_HeaderWait", "Timer_EntityBody",
                             "Timer_MinBytesPerSecond"}) {
    EXPECT_TRUE(node.LogHas("error.log", reason)) << reason;
  }
  EXPECT_FALSE(lazy.Read().complete);
  EXPECT_TRUE(Eventually([&] { return worker.open_streams() == 0; }));
}

TEST(Protocol, ASlowHeaderGetsNoMoreTimeByItsDrops) {
  ListenerNode node(ShortTimeouts());
  node.PutSite(ListenerNode::kSite, "site");
  Visitor visitor(node.port());
  visitor.Send("GET / HTTP/1.1\r\n");
  Response response;
  const auto began = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - began < std::chrono::milliseconds(800)) {
    visitor.Send("X");
    WaitALittle();
  }
  EXPECT_EQ(visitor.Read().status, 408);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(2500));
}

}  // namespace
}  // namespace croft::node::listener::test
