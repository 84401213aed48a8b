#include "node/agent/message_channel.h"

#include <gtest/gtest.h>

#include "croft/node/v1/channel.pb.h"

namespace croft::node::agent {
namespace {

v1::AgentToWorker PingOf(std::uint64_t sequence) {
  v1::AgentToWorker message;
  message.mutable_ping()->set_sequence(sequence);
  return message;
}

class MessageChannelTest : public testing::Test {
 protected:
  void SetUp() override {
    auto pair = *link::Channel::MakePair();
    peer_ = std::make_unique<link::Channel>(std::move(pair.second));
    channel_ = MessageChannel::Open(
        loop_, std::move(pair.first),
        {.on_message = [this](link::Received received) { received_.push_back(received.bytes); },
         .on_closed = [this](const absl::Status&) { closed_ += 1; },
         .on_writable = [this] { writable_ += 1; }});
  }
  void TearDown() override { channel_->Close(); }
  void Run() {
    loop_.restart();
    loop_.poll();
  }

  boost::asio::io_context loop_{1};
  std::shared_ptr<MessageChannel> channel_;
  std::unique_ptr<link::Channel> peer_;
  std::vector<std::string> received_;
  int closed_ = 0;
  int writable_ = 0;
};

TEST_F(MessageChannelTest, DeliversMessagesBothWays) {
  ASSERT_TRUE(peer_->Send(PingOf(1)).ok());
  Run();
  ASSERT_EQ(received_.size(), 1u);
  ASSERT_TRUE(channel_->Send(PingOf(2)));
  EXPECT_EQ((*peer_->Receive())->bytes, PingOf(2).SerializeAsString());
}

TEST_F(MessageChannelTest, QueuesForASlowPeerUpToItsBoundAndInOrder) {
  std::uint64_t sent = 0;
  while (channel_->Send(PingOf(sent + 1))) {
    sent += 1;
  }
  EXPECT_TRUE(channel_->congested());
  for (std::uint64_t sequence = 1; sequence <= sent; ++sequence) {
    auto received = *peer_->Receive();
    if (!received.has_value()) {
      Run();
      received = *peer_->Receive();
    }
    ASSERT_TRUE(received.has_value()) << sequence;
    v1::AgentToWorker message;
    ASSERT_TRUE(link::ParseMessage(received->bytes, message).ok());
    ASSERT_EQ(message.ping().sequence(), sequence);
  }
  Run();
  EXPECT_FALSE(channel_->congested());
  EXPECT_EQ(writable_, 1);
}

TEST_F(MessageChannelTest, TellsOnceThatThePeerIsGone) {
  peer_.reset();
  Run();
  EXPECT_EQ(closed_, 1);
  EXPECT_FALSE(channel_->Send(PingOf(1)));
  Run();
  EXPECT_EQ(closed_, 1);
}

TEST_F(MessageChannelTest, IsSilentAfterClose) {
  ASSERT_TRUE(peer_->Send(PingOf(1)).ok());
  channel_->Close();
  Run();
  EXPECT_TRUE(received_.empty());
  EXPECT_EQ(closed_, 0);
}

}  // namespace
}  // namespace croft::node::agent
