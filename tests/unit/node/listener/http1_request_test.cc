#include "node/listener/http1_request.h"

#include <gtest/gtest.h>

#include <string>

namespace croft::node::listener {
namespace {

// The head of `bytes`, which stay where they are.
struct Parsed {
  explicit Parsed(std::string text) : bytes(std::move(text)) {
    HeadScanner scanner;
    if (scanner.Scan(bytes) == HeadScanner::Result::kComplete) {
      refusal = parser.ParseHead({bytes.data(), scanner.head_size()}, head);
      rest = std::string_view(bytes).substr(scanner.head_size());
    } else {
      refusal = Refusal{400, "incomplete"};
    }
  }
  std::string bytes;
  RequestHead head;
  RequestParser parser;
  std::optional<Refusal> refusal;
  std::string_view rest;
};

TEST(HeadScanner, FindsTheSameEndHoweverTheBytesArrive) {
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n\r\n";
  const std::string bytes = head + "more";
  for (std::size_t first = 0; first <= bytes.size(); ++first) {
    HeadScanner scanner;
    HeadScanner::Result result = scanner.Scan(std::string_view(bytes).substr(0, first));
    EXPECT_EQ(result == HeadScanner::Result::kComplete, first >= head.size());
    if (result == HeadScanner::Result::kNeedMore) {
      result = scanner.Scan(bytes);
    }
    EXPECT_EQ(result, HeadScanner::Result::kComplete);
    EXPECT_EQ(scanner.head_size(), head.size());
  }
}

TEST(HeadScanner, RefusesBareLineFeedsAndFoldedLines) {
  for (const char* bytes : {"GET / HTTP/1.1\n", "\n", "GET / HTTP/1.1\r\nA: 1\n\r\n",
                            "GET / HTTP/1.1\r\nA: 1\r\n\tb\r\n"}) {
    HeadScanner scanner;
    EXPECT_EQ(scanner.Scan(bytes), HeadScanner::Result::kBadLine) << bytes;
  }
}

TEST(RequestParser, SplitsTheTarget) {
  const Parsed plain("GET /a/b?c=d?e HTTP/1.1\r\nHost: h:8080\r\n\r\n");
  ASSERT_FALSE(plain.refusal);
  EXPECT_EQ(plain.head.path, "/a/b");
  EXPECT_EQ(plain.head.query, "c=d?e");
  EXPECT_EQ(plain.head.path_and_query, "/a/b?c=d?e");
  EXPECT_EQ(plain.head.host, "h:8080");
  const Parsed absolute("GET http://other?x HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(absolute.refusal);
  const Parsed bare("GET http://other HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_FALSE(bare.refusal);
  EXPECT_EQ(bare.head.path_and_query, "/");
  EXPECT_EQ(bare.head.host, "other");
}

TEST(RequestParser, MarksWhatIsForwarded) {
  const Parsed parsed(
      "GET / HTTP/1.1\r\nHost: h\r\nAccept: a\r\nConnection: keep-alive, X-One ,x-two\r\nX-One: "
      "1\r\n"
      "X-Two: 2\r\nCROFT-Settings: 3\r\nUpgrade: h2c\r\n\r\n");
  ASSERT_FALSE(parsed.refusal);
  std::string forwarded;
  for (const HeaderField& field : parsed.head.headers()) {
    forwarded += field.forwarded ? std::string(field.name) + " " : "";
  }
  EXPECT_EQ(forwarded, "accept ");
}

TEST(RequestParser, KnowsWhetherTheConnectionIsKept) {
  EXPECT_TRUE(Parsed("GET / HTTP/1.1\r\nHost: h\r\n\r\n").head.keep_alive);
  EXPECT_FALSE(Parsed("GET / HTTP/1.1\r\nHost: h\r\nConnection: Close\r\n\r\n").head.keep_alive);
  EXPECT_FALSE(Parsed("GET / HTTP/1.0\r\n\r\n").head.keep_alive);
  EXPECT_TRUE(Parsed("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").head.keep_alive);
}

TEST(RequestParser, FeedsBodiesPieceByPiece) {
  Parsed parsed(
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\nA;x=\"y\"\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\nGET ");
  ASSERT_FALSE(parsed.refusal);
  std::string body;
  std::string pending;
  std::optional<Refusal> refusal;
  for (const char byte : parsed.rest) {
    pending += byte;
    if (!parsed.parser.BodyDone()) {
      pending.erase(0, parsed.parser.FeedBody(pending, body, refusal));
    }
  }
  EXPECT_FALSE(refusal);
  EXPECT_EQ(body, "abc0123456789");
  EXPECT_EQ(pending, "GET ");
}

TEST(RequestParser, RefusesAChunkedBodyBeyondTheLimit) {
  Parsed parsed(
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
      "chunked\r\n\r\n5\r\nabcde\r\n5\r\nabcde\r\n");
  parsed.parser.body_limit(8);
  std::string body;
  std::optional<Refusal> refusal;
  parsed.parser.FeedBody(parsed.rest, body, refusal);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 413);
}

}  // namespace
}  // namespace croft::node::listener
