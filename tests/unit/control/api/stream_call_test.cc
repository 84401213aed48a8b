#include "control/api/stream_call.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <thread>

#include "control/identity/tokens.h"
#include "croft/v1/operator.pb.h"
#include "croft/v1/report.pb.h"
#include "croft/v1/resource.pb.h"
#include "tests/unit/control/store/fake_store.h"

namespace croft::control::api {
namespace {

constexpr std::chrono::seconds kSoon{10};

// Remembers what the call asked of it, for a test to take in order.
class FakeTransport final : public StreamTransport {
 public:
  void Read() override { Note("read"); }
  void Send(std::vector<MessagePtr> messages) override {
    Note("send " + std::to_string(messages.size()));
  }
  void Finish(const absl::Status& status) override {
    Note("finish " + absl::StatusCodeToString(status.code()));
  }

  // "" when nothing comes within `wait`.
  std::string Take(std::chrono::milliseconds wait = kSoon) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, wait, [this] { return !notes_.empty(); })) {
      return "";
    }
    std::string note = notes_.front();
    notes_.pop_front();
    return note;
  }

 private:
  void Note(std::string note) {
    const std::lock_guard lock(mutex_);
    notes_.push_back(std::move(note));
    changed_.notify_all();
  }

  std::mutex mutex_;  // protects notes_
  std::deque<std::string> notes_;
  std::condition_variable changed_;
};

// What the test's handler does; shared with the test.
struct Script {
  std::atomic<int> available{0};  // messages to send, one a turn
  std::atomic<int> inside{0};     // turns under way
  std::atomic<int> most_inside{0};
  std::atomic<int> turns{0};
  std::atomic<bool> fails{false};
  std::atomic<bool> gone{false};
  Wake wake;
};

class ScriptedHandler final : public StreamHandler {
 public:
  explicit ScriptedHandler(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  ~ScriptedHandler() override { script_->gone = true; }

  absl::StatusOr<Turn> OnRequest(const domain::Caller& caller,
                                 const google::protobuf::Message& request) override {
    EXPECT_EQ(caller.who, "ann");
    Turn turn;
    if (const auto* batch = dynamic_cast<const v1::ImportResourcesRequest*>(&request)) {
      for (int i = 0; i < batch->rows_size(); ++i) {
        turn.messages.push_back(std::make_unique<v1::ImportResourcesResponse>());
      }
    }
    return turn;
  }

  absl::StatusOr<Turn> OnTurn(const domain::Caller&) override {
    script_->most_inside = std::max<int>(script_->most_inside, ++script_->inside);
    ++script_->turns;
    Turn turn;
    if (script_->available > 0) {
      --script_->available;
      turn.messages.push_back(std::make_unique<v1::WatchEventsResponse>());
    }
    --script_->inside;
    if (script_->fails) {
      return absl::DataLossError("as told");
    }
    return turn;
  }

 private:
  const std::shared_ptr<Script> script_;
};

class StreamCallTest : public testing::Test {
 protected:
  StreamCallTest() {
    EXPECT_TRUE(resources_.CreateFirstResources().ok());
    EXPECT_TRUE(resources_.Create(root_, "", "ann", v1::Operator(), {}).ok());
    v1::Token token;
    token.set_operator_("operators/ann");
    token.set_lifetime(3'600'000);
    EXPECT_TRUE(resources_
                    .CreateToken(root_, "good", token,
                                 {.secret = "good", .hash = identity::HashToken("good")}, {})
                    .ok());
    for (const char* method :
         {"croft.v1.ReportService.WatchEvents", "croft.v1.ResourceService.ImportResources"}) {
      streams_.Add(method, [this](Wake wake) {
        script_->wake = std::move(wake);
        return std::make_unique<ScriptedHandler>(script_);
      });
    }
  }

  std::shared_ptr<StreamCall> Open(const std::string& method, const std::string& token = "good") {
    auto call = std::make_shared<StreamCall>(
        transport_, Credentials{.authorization = "Bearer " + token, .uris = {}},
        *streams_.Find(GetMethod(method)),
        Services{.authorizer = authorizer_,
                 .executor = executor_,
                 .methods = methods_,
                 .streams = streams_,
                 .live_streams = live_streams_,
                 .feed = *feed_});
    call->Start();
    EXPECT_EQ(transport_->Take(), "read");
    return call;
  }
  std::shared_ptr<StreamCall> OpenWatch() {
    auto call = Open("croft.v1.ReportService.WatchEvents");
    call->OnMessage(std::make_unique<v1::WatchEventsRequest>());
    return call;
  }
  static MessagePtr Batch(int rows) {
    auto batch = std::make_unique<v1::ImportResourcesRequest>();
    for (int i = 0; i < rows; ++i) {
      batch->add_rows();
    }
    return batch;
  }

  const domain::Caller root_ = domain::SystemCaller("test");
  FakeClock clock_;
  store::FakeStore store_{1, &clock_};
  domain::Resources resources_{store_};
  std::unique_ptr<feed::Feed> feed_ =
      feed::MakeFeed(store_, clock_, feed::FeedOptions(), [](const auto&, const auto&) {});
  Authorizer authorizer_{store_, resources_.access(), clock_};
  Methods methods_;
  StreamMethods streams_;
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  std::shared_ptr<FakeTransport> transport_ = std::make_shared<FakeTransport>();
  DbExecutor executor_;
  LiveStreams live_streams_{executor_};
};

TEST_F(StreamCallTest, ServerStreamSendsOneTurnAfterAnotherAtTheReceiversPace) {
  script_->available = 3;
  const auto call = OpenWatch();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(transport_->Take(), "send 1");
    script_->wake();
    EXPECT_EQ(transport_->Take(std::chrono::milliseconds(50)), "") << "sent before there was room";
    call->OnSent();
  }
  EXPECT_EQ(transport_->Take(std::chrono::milliseconds(50)), "");
}

TEST_F(StreamCallTest, IdleStreamIsWokenAtOnceAndLooksByItselfLater) {
  const auto call = OpenWatch();
  while (script_->turns == 0) {
    std::this_thread::yield();
  }
  script_->available = 1;
  script_->wake();
  EXPECT_EQ(transport_->Take(), "send 1");
  call->OnSent();
  script_->available = 1;
  EXPECT_EQ(transport_->Take(), "send 1") << "the beat gives a turn";
}

TEST_F(StreamCallTest, TurnsNeverOverlapHoweverOftenItIsWoken) {
  const auto call = OpenWatch();
  while (script_->turns == 0) {
    std::this_thread::yield();
  }
  std::vector<std::jthread> wakers;
  for (int i = 0; i < 4; ++i) {
    wakers.emplace_back([wake = script_->wake] {
      for (int n = 0; n < 2000; ++n) {
        wake();
      }
    });
  }
  wakers.clear();
  const auto deadline = std::chrono::steady_clock::now() + kSoon;
  while (script_->turns < 2 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_GE(script_->turns, 2) << "woken, and no turn came";
  EXPECT_EQ(script_->most_inside, 1);
}

TEST_F(StreamCallTest, ClientStreamIsReadOnAfterItsAnswerIsSent) {
  const auto call = Open("croft.v1.ResourceService.ImportResources");
  call->OnMessage(Batch(2));
  EXPECT_EQ(transport_->Take(), "send 2");
  EXPECT_EQ(transport_->Take(std::chrono::milliseconds(50)), "");
  call->OnSent();
  EXPECT_EQ(transport_->Take(), "read");
  call->OnMessage(Batch(0));
  EXPECT_EQ(transport_->Take(), "read") << "no answer, none to wait for";
  call->OnEnd();
  EXPECT_EQ(transport_->Take(), "finish OK");
}

TEST_F(StreamCallTest, ServerStreamWithoutARequestIsAnError) {
  Open("croft.v1.ReportService.WatchEvents")->OnEnd();
  EXPECT_EQ(transport_->Take(), "finish INVALID_ARGUMENT");
}

TEST_F(StreamCallTest, UnknownTokenGetsNoTurn) {
  const auto call = Open("croft.v1.ReportService.WatchEvents", "bad");
  call->OnMessage(std::make_unique<v1::WatchEventsRequest>());
  EXPECT_EQ(transport_->Take(), "finish UNAUTHENTICATED");
  EXPECT_EQ(script_->turns, 0);
}

TEST_F(StreamCallTest, RevokedTokenEndsAnyOpenStreamWithinTwoBeats) {
  const auto watch = OpenWatch();
  ASSERT_TRUE(resources_.Delete(root_, store::ResourceType::kToken, "tokens/good", "", {}).ok());
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(transport_->Take(2 * kStreamBeat + std::chrono::seconds(2)), "finish UNAUTHENTICATED");
}

TEST_F(StreamCallTest, ErrorOfATurnEndsTheStreamAndTheHandlerGoes) {
  script_->fails = true;
  auto call = OpenWatch();
  EXPECT_EQ(transport_->Take(), "finish DATA_LOSS");
  call->OnClosed(absl::CancelledError());
  EXPECT_EQ(transport_->Take(std::chrono::milliseconds(50)), "") << "one end is enough";
  std::weak_ptr<StreamCall> weak = call;
  call.reset();
  const auto deadline = std::chrono::steady_clock::now() + kSoon;
  while (!weak.expired() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(script_->gone);
  script_->wake();  // nobody is there any more
}

}  // namespace
}  // namespace croft::control::api
