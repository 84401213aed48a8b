// A control channel: one protobuf message per SOCK_SEQPACKET datagram, descriptors beside it.
// Launcher, agent, listener and workers talk by it. Untrusted where the peer is a worker: sizes and
// descriptor counts are bounded. One thread only.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <google/protobuf/message_lite.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proto/base/unique_fd.h"

namespace croft::node::link {

inline constexpr std::size_t kMessageBytesMax = 64 * 1024;
inline constexpr std::size_t kDescriptorsMax = 64;

struct Received {
  std::string bytes;
  std::vector<UniqueFd> descriptors;
};

class Channel {
 public:
  explicit Channel(UniqueFd socket) : socket_(std::move(socket)) {}

  // A connected, close-on-exec, non-blocking pair.
  static absl::StatusOr<std::pair<UniqueFd, UniqueFd>> MakePair();

  // The descriptors stay the caller's. unavailable when the peer is gone; resource_exhausted when
  // the socket buffer is full (try when writable).
  absl::Status Send(const google::protobuf::MessageLite& message,
                    const std::vector<int>& descriptors = {});
  // nullopt when nothing is there now; unavailable when the peer is gone; invalid_argument for an
  // oversized datagram.
  absl::StatusOr<std::optional<Received>> Receive();

  int fd() const { return socket_.get(); }

 private:
  UniqueFd socket_;
};

// Parses, strictly bounded; invalid_argument if the bytes are no such message.
absl::Status ParseMessage(const std::string& bytes, google::protobuf::MessageLite& message);

}  // namespace croft::node::link
