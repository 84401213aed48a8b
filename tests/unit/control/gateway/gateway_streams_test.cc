// The gateway itself, over TLS, with a stream that the test tells what to send.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <string>
#include <thread>

#include "control/gateway/gateway.h"
#include "control/identity/tokens.h"
#include "croft/v1/operator.pb.h"
#include "croft/v1/report.pb.h"
#include "tests/unit/control/store/fake_store.h"

namespace croft::control::gateway {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::seconds kSoon{10};

struct Script {
  std::atomic<int> available{0};
  std::atomic<int> handlers{0};  // alive
  std::atomic<bool> asked{false};
  api::Wake wake;
};

class ScriptedWatch final : public api::StreamHandler {
 public:
  explicit ScriptedWatch(Script& script) : script_(script) { ++script_.handlers; }
  ~ScriptedWatch() override { --script_.handlers; }

  absl::StatusOr<api::Turn> OnRequest(const domain::Caller&,
                                      const google::protobuf::Message& request) override {
    if (static_cast<const v1::WatchEventsRequest&>(request).after_id() < 0) {
      return absl::InvalidArgumentError("no such event");
    }
    script_.asked = true;
    return api::Turn();
  }
  absl::StatusOr<api::Turn> OnTurn(const domain::Caller&) override {
    api::Turn turn;
    for (; script_.available > 0 && turn.messages.size() < 1000; --script_.available) {
      auto response = std::make_unique<v1::WatchEventsResponse>();
      response->add_events()->set_id(script_.available);
      turn.messages.push_back(std::move(response));
    }
    return turn;
  }

 private:
  Script& script_;
};

// Speaks HTTP line by line.
class Client {
 public:
  explicit Client(int port) {
    stream_.lowest_layer().connect(
        {asio::ip::make_address("127.0.0.1"), static_cast<unsigned short>(port)});
    stream_.handshake(asio::ssl::stream_base::client);
  }

  void Send(const std::string& text) { asio::write(stream_, asio::buffer(text)); }
  void Watch(const std::string& body, const std::string& more = "") {
    Send(
        "POST /croft.v1.ReportService/WatchEvents HTTP/1.1\r\nHost: x\r\n"
        "Content-Type: application/json\r\nAuthorization: Bearer good\r\n" +
        more + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  // Without its end; "" at the connection's end.
  std::string Line() {
    boost::system::error_code error;
    asio::read_until(stream_, buffer_, "\r\n", error);
    std::istream in(&buffer_);
    std::string line;
    std::getline(in, line);
    while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) {
      line.pop_back();
    }
    return line;
  }
  std::string Head() {
    const std::string status = Line();
    while (!Line().empty()) {
    }
    return status;
  }
  // One chunk's text, "" for the last.
  std::string Chunk() {
    const std::string size = Line();
    std::string text;
    for (std::string line = Line(); !line.empty() && size != "0"; line = Line()) {
      text += line + "\n";
    }
    return text;
  }
  void Leave() { stream_.lowest_layer().close(); }

 private:
  asio::io_context loop_;
  asio::ssl::context tls_{asio::ssl::context::tls_client};
  asio::ssl::stream<asio::ip::tcp::socket> stream_{loop_, tls_};
  asio::streambuf buffer_;
};

class GatewayStreamsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(resources_.CreateFirstResources().ok());
    ASSERT_TRUE(resources_.Create(root_, "", "ann", v1::Operator(), {}).ok());
    v1::Token token;
    token.set_operator_("operators/ann");
    token.set_lifetime(3'600'000);
    const auto made = resources_.CreateToken(
        root_, "good", token, {.secret = "good", .hash = identity::HashToken("good")}, {});
    ASSERT_TRUE(made.ok()) << made.status();
    streams_.Add("croft.v1.ReportService.WatchEvents", [this](api::Wake wake) {
      script_.wake = std::move(wake);
      return std::make_unique<ScriptedWatch>(script_);
    });
    const auto authority = identity::MakeAuthority(SystemClock().Now());
    ASSERT_TRUE(authority.ok());
    const std::vector<std::string> hosts = {"127.0.0.1"};
    const auto certificate =
        identity::IssueServerCertificate(*authority, hosts, SystemClock().Now());
    ASSERT_TRUE(certificate.ok());
    auto gateway = Gateway::Start({.host = "127.0.0.1",
                                   .port = 0,
                                   .certificate = *certificate,
                                   .pages = {{.path = "/slow",
                                              .content_type = "text/plain",
                                              .make = [] { return absl::DataLossError("gone"); },
                                              .blocks = true}}},
                                  {.authorizer = authorizer_,
                                   .executor = executor_,
                                   .methods = methods_,
                                   .streams = streams_,
                                   .live_streams = live_streams_,
                                   .feed = *feed_});
    ASSERT_TRUE(gateway.ok()) << gateway.status();
    gateway_ = *std::move(gateway);
  }

  template <typename Predicate>
  static bool Eventually(Predicate predicate) {
    const auto deadline = std::chrono::steady_clock::now() + kSoon;
    while (!predicate() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    return predicate();
  }

  const domain::Caller root_ = domain::SystemCaller("test");
  FakeClock clock_;
  store::FakeStore store_{1, &clock_};
  domain::Resources resources_{store_};
  std::unique_ptr<feed::Feed> feed_ =
      feed::MakeFeed(store_, clock_, feed::FeedOptions(), [](const auto&, const auto&) {});
  api::Authorizer authorizer_{store_, resources_.access(), clock_};
  api::Methods methods_;
  api::StreamMethods streams_;
  Script script_;
  api::DbExecutor executor_;
  api::LiveStreams live_streams_{executor_};
  std::unique_ptr<Gateway> gateway_;
};

TEST_F(GatewayStreamsTest, MessagesAreLinesAndComeAsTheyAreThere) {
  script_.available = 2;
  Client client(gateway_->port());
  client.Watch("{}");
  EXPECT_EQ(client.Head(), "HTTP/1.1 200 OK");
  EXPECT_EQ(client.Chunk(), "{\"events\":[{\"id\":\"2\"}]}\n{\"events\":[{\"id\":\"1\"}]}\n");
  script_.available = 1;
  script_.wake();
  EXPECT_EQ(client.Chunk(), "{\"events\":[{\"id\":\"1\"}]}\n");
}

TEST_F(GatewayStreamsTest, WhoHearsNothingYetHearsThatTheStreamIsOpen) {
  Client client(gateway_->port());
  client.Watch("{\"afterId\": \"7\"}");
  EXPECT_EQ(client.Head(), "HTTP/1.1 200 OK");
  EXPECT_TRUE(script_.asked);
}

TEST_F(GatewayStreamsTest, WhoeverLeavesLeavesNothingBehind) {
  for (int i = 0; i < 5; ++i) {
    Client client(gateway_->port());
    client.Watch("{}");
    client.Head();
    EXPECT_EQ(script_.handlers, 1);
    client.Leave();
    EXPECT_TRUE(Eventually([this] { return script_.handlers == 0; }));
  }
}

TEST_F(GatewayStreamsTest, RefusalBeforeTheFirstLineHasItsHttpStatus) {
  Client client(gateway_->port());
  client.Watch("{\"afterId\": -1}");
  EXPECT_EQ(client.Head(), "HTTP/1.1 400 Bad Request");
}

TEST_F(GatewayStreamsTest, RevokedTokenEndsTheStreamWithALine) {
  Client client(gateway_->port());
  client.Watch("{}");
  client.Head();
  ASSERT_TRUE(resources_.Delete(root_, store::ResourceType::kToken, "tokens/good", "", {}).ok());
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_THAT(client.Chunk(), testing::StartsWith(R"({"error":{"code":"unauthenticated",)"));
  EXPECT_EQ(client.Chunk(), "");
}

TEST_F(GatewayStreamsTest, CallersDeadlineEndsTheStream) {
  Client client(gateway_->port());
  client.Watch("{}", "connect-timeout-ms: 600\r\n");
  client.Head();
  EXPECT_THAT(client.Chunk(), testing::StartsWith(R"({"error":{"code":"deadline_exceeded",)"));
  EXPECT_EQ(client.Chunk(), "");
}

TEST_F(GatewayStreamsTest, SlowReceiverHoldsUpOnlyItself) {
  Client slow(gateway_->port());
  slow.Watch("{}");
  slow.Head();
  script_.available = 1'000'000;  // far more than the sockets hold
  script_.wake();
  Client other(gateway_->port());
  other.Send("GET /healthz HTTP/1.1\r\n\r\n");
  EXPECT_EQ(other.Head(), "HTTP/1.1 200 OK");
}

TEST_F(GatewayStreamsTest, PageThatFailsSaysSo) {
  Client client(gateway_->port());
  client.Send("GET /slow HTTP/1.1\r\n\r\n");
  EXPECT_EQ(client.Head(), "HTTP/1.1 500 Internal Server Error");
}

TEST_F(GatewayStreamsTest, EndsWithStreamsOpen) {
  Client watching(gateway_->port());
  watching.Watch("{}");
  watching.Head();
  Client idle(gateway_->port());
  script_.available = 1;
  script_.wake();
  gateway_.reset();
  EXPECT_TRUE(Eventually([this] { return script_.handlers == 0; }));
}

}  // namespace
}  // namespace croft::control::gateway
