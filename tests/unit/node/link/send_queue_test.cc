#include "node/link/send_queue.h"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include "croft/node/v1/launcher.pb.h"

namespace croft::node::link {
namespace {

class SendQueueTest : public testing::Test {
 protected:
  SendQueueTest() : pair_(*Channel::MakePair()), here_(std::move(pair_.first)), queue_(here_) {
    there_ = std::make_unique<Channel>(std::move(pair_.second));
  }

  static v1::LauncherMessage Numbered(std::uint64_t number) {
    v1::LauncherMessage message;
    message.set_request_id(number);
    return message;
  }

  std::pair<UniqueFd, UniqueFd> pair_;
  Channel here_;
  SendQueue<v1::LauncherMessage> queue_;
  std::unique_ptr<Channel> there_;
};

TEST_F(SendQueueTest, KeepsOrderAndDescriptorsWhileThePeerDoesNotRead) {
  constexpr std::uint64_t kMessages = 2000;
  for (std::uint64_t i = 1; i <= kMessages; ++i) {
    const UniqueFd gone_soon(::memfd_create("sent", MFD_CLOEXEC));
    ASSERT_TRUE(
        queue_
            .Send(Numbered(i), i % 8 == 0 ? std::vector<int>{gone_soon.get()} : std::vector<int>{})
            .ok());
  }
  EXPECT_GT(queue_.size(), 0u);
  std::uint64_t next = 1;
  while (next <= kMessages) {
    ASSERT_TRUE(queue_.Flush().ok());
    auto received = there_->Receive();
    ASSERT_TRUE(received.ok() && received->has_value()) << next;
    v1::LauncherMessage message;
    ASSERT_TRUE(ParseMessage((*received)->bytes, message).ok());
    ASSERT_EQ(message.request_id(), next);
    ASSERT_EQ((*received)->descriptors.size(), next % 8 == 0 ? 1u : 0u);
    ++next;
  }
  EXPECT_EQ(queue_.size(), 0u);
}

TEST_F(SendQueueTest, TellsThatThePeerIsGone) {
  for (std::uint64_t i = 1; queue_.size() == 0; ++i) {
    ASSERT_TRUE(queue_.Send(Numbered(i)).ok());
  }
  there_.reset();
  EXPECT_EQ(queue_.Flush().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace croft::node::link
