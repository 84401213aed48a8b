#include "node/link/channel.h"

#include <google/protobuf/stubs/logging.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "proto/base/error.h"

namespace croft::node::link {
namespace {

constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(int) * kDescriptorsMax);

struct ControlBuffer {
  alignas(cmsghdr) std::array<char, kControlBytes> bytes;
};

void AttachDescriptors(const std::vector<int>& descriptors, ControlBuffer& control,
                       msghdr& header) {
  const std::size_t size = sizeof(int) * descriptors.size();
  std::memset(control.bytes.data(), 0, control.bytes.size());
  header.msg_control = control.bytes.data();
  header.msg_controllen = CMSG_SPACE(size);
  cmsghdr* part = CMSG_FIRSTHDR(&header);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(size);
  std::memcpy(CMSG_DATA(part), descriptors.data(), size);
}

std::vector<UniqueFd> TakeDescriptors(msghdr& header) {
  std::vector<UniqueFd> taken;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      taken.emplace_back(fd);
    }
  }
  return taken;
}

absl::Status PeerGone() {
  return Error(absl::StatusCode::kUnavailable, "the channel's peer is gone");
}

absl::Status SendFailed(std::size_t bytes, std::size_t descriptors) {
  switch (errno) {
    case EPIPE:
    case ECONNRESET:
    case ENOTCONN:
      return PeerGone();
    case EAGAIN:
    case ENOBUFS:
    case ETOOMANYREFS:
      return Error(absl::StatusCode::kResourceExhausted,
                   "the channel is full: its peer has not read what was sent before");
    default:
      return ErrnoError("send {} bytes and {} descriptors on the channel", bytes, descriptors);
  }
}

}  // namespace

absl::StatusOr<std::pair<UniqueFd, UniqueFd>> Channel::MakePair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    return ErrnoError("make a channel");
  }
  return std::pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

absl::Status Channel::Send(const google::protobuf::MessageLite& message,
                           const std::vector<int>& descriptors) {
  std::string bytes;
  // An empty datagram cannot be told from the end of the channel.
  if (message.ByteSizeLong() > kMessageBytesMax || !message.SerializeToString(&bytes) ||
      bytes.empty()) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "a channel message must have 1 to {} bytes, not {}", kMessageBytesMax,
                 message.ByteSizeLong());
  }
  if (descriptors.size() > kDescriptorsMax) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "a channel message carries at most {} descriptors, not {}", kDescriptorsMax,
                 descriptors.size());
  }
  iovec part{.iov_base = bytes.data(), .iov_len = bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  ControlBuffer control;
  if (!descriptors.empty()) {
    AttachDescriptors(descriptors, control, header);
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  return sent >= 0 ? absl::OkStatus() : SendFailed(bytes.size(), descriptors.size());
}

absl::StatusOr<std::optional<Received>> Channel::Receive() {
  std::array<char, kMessageBytesMax> buffer;
  ControlBuffer control;
  iovec part{.iov_base = buffer.data(), .iov_len = buffer.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes.data();
  header.msg_controllen = control.bytes.size();
  ssize_t size = 0;
  do {
    size = ::recvmsg(socket_.get(), &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  } while (size < 0 && errno == EINTR);
  if (size < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return std::nullopt;
    }
    return errno == ECONNRESET ? PeerGone() : ErrnoError("receive from the channel");
  }
  Received received;
  received.descriptors = TakeDescriptors(header);
  if (size == 0) {
    return PeerGone();
  }
  if ((header.msg_flags & MSG_TRUNC) != 0) {
    return Error(absl::StatusCode::kInvalidArgument, "a channel message has more than {} bytes",
                 kMessageBytesMax);
  }
  if ((header.msg_flags & MSG_CTRUNC) != 0) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "a channel message carries more descriptors than {} or than this process may open",
                 kDescriptorsMax);
  }
  received.bytes.assign(buffer.data(), static_cast<std::size_t>(size));
  return received;
}

absl::Status ParseMessage(const std::string& bytes, google::protobuf::MessageLite& message) {
  // The library would log what a peer can trigger at will.
  const google::protobuf::LogSilencer silencer;
  if (bytes.size() > kMessageBytesMax || !message.ParseFromString(bytes)) {
    return Error(absl::StatusCode::kInvalidArgument, "{} bytes that are no {}", bytes.size(),
                 message.GetTypeName());
  }
  return absl::OkStatus();
}

}  // namespace croft::node::link
