#include "node/link/channel.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <filesystem>

#include "croft/node/v1/launcher.pb.h"

namespace croft::node::link {
namespace {

using absl::StatusCode;

std::ptrdiff_t OpenDescriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

v1::LauncherMessage ErrorMessage(std::string text) {
  v1::LauncherMessage message;
  message.set_error(std::move(text));
  return message;
}

class ChannelTest : public testing::Test {
 protected:
  void SetUp() override {
    auto pair = Channel::MakePair();
    ASSERT_TRUE(pair.ok()) << pair.status();
    here_ = std::make_unique<Channel>(std::move(pair->first));
    there_ = std::make_unique<Channel>(std::move(pair->second));
  }

  Received Take() {
    auto received = there_->Receive();
    EXPECT_TRUE(received.ok()) << received.status();
    EXPECT_TRUE(received.ok() && received->has_value());
    return received.ok() && received->has_value() ? std::move(**received) : Received();
  }

  std::unique_ptr<Channel> here_;
  std::unique_ptr<Channel> there_;
};

TEST_F(ChannelTest, CarriesMessagesInOrderWithoutMergingThem) {
  ASSERT_TRUE(here_->Send(ErrorMessage("one")).ok());
  ASSERT_TRUE(here_->Send(ErrorMessage("two")).ok());
  for (const std::string expected : {"one", "two"}) {
    v1::LauncherMessage message;
    ASSERT_TRUE(ParseMessage(Take().bytes, message).ok());
    EXPECT_EQ(message.error(), expected);
  }
  const auto nothing = there_->Receive();
  ASSERT_TRUE(nothing.ok());
  EXPECT_FALSE(nothing->has_value());
}

TEST_F(ChannelTest, CarriesDescriptorsAndClosesThemOnExec) {
  const UniqueFd memory(::memfd_create("carried", MFD_CLOEXEC));
  ASSERT_EQ(::write(memory.get(), "hello", 5), 5);
  const std::vector<int> many(kDescriptorsMax, memory.get());
  ASSERT_TRUE(here_->Send(ErrorMessage("x"), many).ok());
  const Received received = Take();
  ASSERT_EQ(received.descriptors.size(), kDescriptorsMax);
  for (const UniqueFd& fd : received.descriptors) {
    EXPECT_EQ(::fcntl(fd.get(), F_GETFD), FD_CLOEXEC);
  }
  std::array<char, 5> bytes{};
  EXPECT_EQ(::pread(received.descriptors.back().get(), bytes.data(), bytes.size(), 0), 5);
  EXPECT_EQ(std::string(bytes.data(), bytes.size()), "hello");
}

TEST_F(ChannelTest, TellsThatThePeerIsGoneAfterItsLastMessage) {
  ASSERT_TRUE(here_->Send(ErrorMessage("last")).ok());
  here_.reset();
  EXPECT_FALSE(Take().bytes.empty());
  EXPECT_EQ(there_->Receive().status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(there_->Send(ErrorMessage("anyone?")).code(), StatusCode::kUnavailable);
}

TEST_F(ChannelTest, SaysFullInsteadOfBlockingAndGoesOnWhenRead) {
  absl::Status status;
  int sent = 0;
  for (; status.ok() && sent < 1'000'000; ++sent) {
    status = here_->Send(ErrorMessage(std::string(100, 'x')));
  }
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << status;
  EXPECT_GT(sent, 100);
  for (int i = 1; i < sent; ++i) {
    Take();
  }
  EXPECT_TRUE(here_->Send(ErrorMessage("x")).ok());
}

TEST_F(ChannelTest, RefusesToSendWhatItsPeerWouldRefuse) {
  EXPECT_EQ(here_->Send(v1::LauncherMessage()).code(), StatusCode::kInvalidArgument) << "empty";
  EXPECT_EQ(here_->Send(ErrorMessage(std::string(kMessageBytesMax, 'x'))).code(),
            StatusCode::kInvalidArgument);
  EXPECT_TRUE(here_->Send(ErrorMessage(std::string(kMessageBytesMax - 4, 'x'))).ok());
  EXPECT_EQ(Take().bytes.size(), kMessageBytesMax);
  const std::vector<int> many(kDescriptorsMax + 1, 0);
  EXPECT_EQ(here_->Send(ErrorMessage("x"), many).code(), StatusCode::kInvalidArgument);
}

TEST_F(ChannelTest, RefusesAnOversizedDatagramAndGoesOn) {
  const std::string large(kMessageBytesMax + 1, 'x');
  ASSERT_EQ(::send(here_->fd(), large.data(), large.size(), 0), ssize_t(large.size()));
  EXPECT_EQ(there_->Receive().status().code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(here_->Send(ErrorMessage("next")).ok());
  EXPECT_FALSE(Take().bytes.empty());
}

TEST_F(ChannelTest, ClosesTheDescriptorsOfWhatItRefuses) {
  const std::string large(kMessageBytesMax + 1, 'x');
  const std::ptrdiff_t before = OpenDescriptors();
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * (kDescriptorsMax + 1))> control{};
  for (const std::size_t count : {std::size_t{1}, kDescriptorsMax + 1}) {
    iovec part{const_cast<char*>(large.data()), count == 1 ? large.size() : 1};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(sizeof(int) * count);
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int) * count);
    for (std::size_t i = 0; i < count; ++i) {
      const int fd = here_->fd();
      std::memcpy(CMSG_DATA(rights) + i * sizeof(int), &fd, sizeof(int));
    }
    ASSERT_GT(::sendmsg(here_->fd(), &header, 0), 0);
    EXPECT_EQ(there_->Receive().status().code(), StatusCode::kInvalidArgument) << count;
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(ChannelTest, AnEmptyDatagramCountsAsTheEnd) {
  ASSERT_EQ(::send(here_->fd(), "", 0, 0), 0);
  EXPECT_EQ(there_->Receive().status().code(), StatusCode::kUnavailable);
}

TEST(ParseMessage, RefusesWhatIsNoMessage) {
  v1::LauncherMessage message;
  for (const std::string& bytes : {std::string("\xff\xff\xff"),
                                   std::string("\x12\x7f"
                                               "abc"),
                                   std::string(kMessageBytesMax + 1, '\0')}) {
    EXPECT_EQ(ParseMessage(bytes, message).code(), StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace croft::node::link
