#include "node/agent/control_session.h"

#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <vector>

namespace croft::node::agent {
namespace {

using std::chrono::milliseconds;

// A stream whose other end is the test.
class FakeConnection final : public ControlConnection {
 public:
  FakeConnection(boost::asio::io_context& loop, Callbacks callbacks)
      : loop_(loop), callbacks_(std::move(callbacks)) {}

  void Write(v1::NodeMessage message) override {
    written.push_back(std::move(message));
    if (!stalled) {
      boost::asio::post(loop_, callbacks_.on_written);
    }
  }
  void ReadNext() override { reads += 1; }
  void Close() override {
    if (!std::exchange(closed, true)) {
      boost::asio::post(loop_, [this] { callbacks_.on_closed(absl::CancelledError("closed")); });
    }
  }
  void Deliver(v1::ControlMessage message) { callbacks_.on_message(std::move(message)); }
  void End() { callbacks_.on_closed(absl::UnavailableError("gone")); }
  void Unstall() {
    stalled = false;
    callbacks_.on_written();
  }

  std::vector<v1::NodeMessage> written;
  int reads = 0;
  bool closed = false;
  bool stalled = false;

 private:
  boost::asio::io_context& loop_;
  Callbacks callbacks_;
};

class ControlSessionTest : public testing::Test {
 protected:
  void Run(milliseconds time = milliseconds(5)) {
    loop_.restart();
    loop_.run_for(time);
  }
  bool RunUntil(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!done() && std::chrono::steady_clock::now() < deadline) {
      loop_.restart();
      loop_.run_one_for(milliseconds(20));
    }
    return done();
  }
  FakeConnection& stream() { return *connections_.back(); }
  void Welcome() {
    v1::ControlMessage message;
    message.mutable_welcome()->set_mode(v1::Welcome::DELTA);
    message.mutable_welcome()->set_report_interval_ms(100);
    stream().Deliver(message);
    session_.ReadNext(stream_);
    Run();
  }
  void Connect() {
    session_.Start();
    session_.SendHello(stream_, {});
    Run();
    Welcome();
  }
  std::vector<int> Kinds() const {
    std::vector<int> kinds;
    for (const v1::NodeMessage& message : connections_.back()->written) {
      kinds.push_back(message.message_case());
    }
    return kinds;
  }

  boost::asio::io_context loop_{1};
  FakeClock clock_;
  EventQueue events_{clock_};
  CounterCollector counters_;
  std::vector<std::shared_ptr<FakeConnection>> connections_;
  std::vector<v1::ControlMessage> handed_over_;
  ControlSession::StreamNumber stream_ = 0;
  ControlSession session_{
      loop_,
      clock_,
      {.silence_limit = milliseconds(200),
       .reconnect = {.first = milliseconds(10), .most = milliseconds(20)}},
      {events_, counters_},
      {.connect =
           [this](ControlConnection::Callbacks callbacks) {
             connections_.push_back(std::make_shared<FakeConnection>(loop_, std::move(callbacks)));
             return connections_.back();
           },
       .on_connecting = [this](ControlSession::StreamNumber stream) { stream_ = stream; },
       .on_message =
           [this](ControlSession::StreamNumber, v1::ControlMessage message) {
             handed_over_.push_back(std::move(message));
           }}};
};

TEST_F(ControlSessionTest, SaysHelloFirstAndMarksOnceWelcome) {
  session_.Start();
  v1::Marks marks;
  marks.set_applied_revision(5);
  session_.SetMarks(marks);
  Run();
  EXPECT_TRUE(stream().written.empty());
  session_.SendHello(stream_, {});
  Run();
  EXPECT_EQ(Kinds(), (std::vector<int>{v1::NodeMessage::kHello}));
  Welcome();
  EXPECT_EQ(Kinds(), (std::vector<int>{v1::NodeMessage::kHello, v1::NodeMessage::kMarks}));
  EXPECT_EQ(stream().written[1].marks().applied_revision(), 5);
}

TEST_F(ControlSessionTest, ReadsTheNextMessageOnlyWhenTheLastWasTakenIn) {
  Connect();
  const int before = stream().reads;
  v1::ControlMessage batch;
  batch.mutable_batch()->set_cut(true);
  stream().Deliver(batch);
  Run();
  ASSERT_EQ(handed_over_.size(), 2u);
  EXPECT_EQ(stream().reads, before);
  session_.ReadNext(stream_);
  EXPECT_EQ(stream().reads, before + 1);
}

TEST_F(ControlSessionTest, SendsOnlyTheLatestMarksWhenWritingIsSlow) {
  Connect();
  stream().stalled = true;
  v1::Marks marks;
  for (int revision = 1; revision <= 10; ++revision) {
    marks.set_serving_revision(revision);
    session_.SetMarks(marks);
  }
  const std::size_t before = stream().written.size();
  EXPECT_EQ(stream().written.back().marks().serving_revision(), 1);
  stream().Unstall();
  Run();
  ASSERT_EQ(stream().written.size(), before + 1);
  EXPECT_EQ(stream().written.back().marks().serving_revision(), 10);
}

TEST_F(ControlSessionTest, AnswersAHeartbeatWithItsSequence) {
  Connect();
  v1::ControlMessage heartbeat;
  heartbeat.mutable_heartbeat()->set_sequence(42);
  stream().Deliver(heartbeat);
  Run();
  EXPECT_EQ(stream().written.back().heartbeat().sequence(), 42);
}

TEST_F(ControlSessionTest, ConnectsAgainWhenTheStreamEnds) {
  Connect();
  stream().End();
  EXPECT_TRUE(RunUntil([&] { return connections_.size() == 2; }));
  EXPECT_FALSE(session_.connected());
}

TEST_F(ControlSessionTest, GivesUpASilentStream) {
  Connect();
  clock_.Advance(milliseconds(201));
  EXPECT_TRUE(RunUntil([&] { return connections_.size() == 2; }));
}

TEST_F(ControlSessionTest, DoesNotBlameControlWhileTheReplicaIsBusy) {
  Connect();
  v1::ControlMessage batch;
  batch.mutable_batch();
  stream().Deliver(batch);
  clock_.Advance(milliseconds(10'000));
  Run(milliseconds(150));
  EXPECT_FALSE(stream().closed);
}

TEST_F(ControlSessionTest, DropsResultsOfAnEarlierStream) {
  Connect();
  const ControlSession::StreamNumber first = stream_;
  stream().End();
  ASSERT_TRUE(RunUntil([&] { return connections_.size() == 2; }));
  session_.SendAck(first, {});
  session_.SendHello(first, {});
  session_.ReadNext(first);
  Run();
  EXPECT_TRUE(stream().written.empty());
  EXPECT_EQ(stream().reads, 0);
}

TEST_F(ControlSessionTest, KeepsEventsForTheNextStream) {
  events_.Push("worker_crashed", {.site_uid = 0, .pool_uid = 7}, "worker 3 was killed");
  Connect();
  ASSERT_EQ(stream().written.back().message_case(), v1::NodeMessage::kEvent);
  EXPECT_EQ(stream().written.back().event().pool_uid(), 7);
}

}  // namespace
}  // namespace croft::node::agent
