// How the agent reaches control: the one place in the node that knows gRPC. A connection is one
// stream of NodeFeed over mutual TLS; it is made afresh for each attempt, so that new credentials
// count at once. Methods and callbacks on the supervision loop only.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "croft/node/v1/feed.pb.h"
#include "node/agent/identity.h"

namespace croft::node::agent {

class ControlConnection {
 public:
  struct Callbacks {
    // A message came; the next is read after ReadNext.
    std::function<void(v1::ControlMessage)> on_message;
    // What Write was given is on its way; Write may be called again.
    std::function<void()> on_written;
    // The end, once, whatever the reason; nothing follows.
    std::function<void(const absl::Status&)> on_closed;
  };
  virtual ~ControlConnection() = default;
  // REQUIRES: the last write was answered by on_written.
  virtual void Write(v1::NodeMessage message) = 0;
  // REQUIRES: on_message was called since the last ReadNext.
  virtual void ReadNext() = 0;
  // Ends it soon; on_closed follows.
  virtual void Close() = 0;
};

// Connects by `identity` to `address`. The first message is read at once; writing may begin at
// once.
std::shared_ptr<ControlConnection> ConnectToControl(boost::asio::io_context& loop,
                                                    const std::string& address,
                                                    const Identity& identity,
                                                    ControlConnection::Callbacks callbacks);

struct EnrollTarget {
  std::string address;
  std::string ca;  // PEM
  std::chrono::milliseconds deadline{10'000};
};
// Trades a join token and a certificate request for a certificate. `done` runs once, on the loop.
void Enroll(boost::asio::io_context& loop, const EnrollTarget& target,
            const v1::EnrollRequest& request,
            std::function<void(absl::StatusOr<v1::EnrollResponse>)> done);

}  // namespace croft::node::agent
