// One thread's share of the worker: accepts connections from the listener and serves them. Loops
// share nothing but the stores and counters. Run is called on the loop's thread; Drain may be
// called from any.
#pragma once

#include <absl/status/statusor.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_set>

#include "node/counters/counter_memory.h"
#include "node/worker/handlers/context.h"
#include "node/worker/http2/connection.h"
#include "node/worker/store/store_waits.h"
#include "node/worker/store/stores.h"
#include "proto/base/clock.h"
#include "proto/base/unique_fd.h"

namespace croft::node::worker {

class EventLoop {
 public:
  struct Settings {
    std::uint32_t max_streams = 0;
    // Only processes of this user may connect, if set.
    std::optional<std::uint32_t> peer_uid;
    counters::Row counters;
  };

  // `listening` is this loop's own descriptor of the shared socket. `clock` and `stores` outlive
  // the process's threads.
  EventLoop(UniqueFd listening, const Clock& clock, store::Stores& stores, Settings settings);

  boost::asio::io_context& io() { return io_; }
  // Returns only when `io()` is stopped.
  void Run();
  // Accepts no more, finishes what is in flight, then calls `drained` on the loop's thread.
  void Drain(std::function<void()> drained);

 private:
  void Accept();
  void OnAccepted(http2::Connection::Socket socket);
  bool IsAllowed(http2::Connection::Socket& socket) const;
  void OnClosed(http2::Connection& connection);

  // Constant after construction.
  const Settings settings_;
  store::Stores& stores_;

  // Loop thread only.
  boost::asio::io_context io_{1};
  store::StoreWaits waits_;
  const handlers::Context context_;
  boost::asio::local::stream_protocol::acceptor acceptor_;
  boost::asio::steady_timer accept_pause_;
  std::unordered_set<std::shared_ptr<http2::Connection>> connections_;
  std::function<void()> drained_;
};

}  // namespace croft::node::worker
