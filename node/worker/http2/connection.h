// One connection from the listener: moves bytes between its unix socket and its Session. Loop
// thread only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "node/worker/handlers/context.h"
#include "node/worker/http2/output_buffer.h"
#include "node/worker/http2/session.h"
#include "node/worker/store/stores.h"

namespace croft::node::worker::http2 {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::local::stream_protocol::socket;
  struct Settings {
    std::uint32_t max_streams = 0;
    // Scratch of the loop, for reading.
    std::span<std::uint8_t> read_buffer;
    // Called once, last.
    std::function<void(Connection&)> on_closed;
  };

  // `context` and `stores` outlive it.
  Connection(Socket socket, const handlers::Context& context, store::Stores& stores,
             Settings settings);

  void Start();
  // Finishes what is in flight and closes.
  void Drain();

 private:
  void WaitReadable();
  void OnReadable();
  // False when the peer is gone or broke the protocol.
  bool ReadAvailable();
  void WaitWritable();
  void ScheduleFlush();
  void Flush();
  // False when the peer is gone.
  bool WriteReady();
  void Close();

  // Constant after construction.
  const handlers::Context& context_;
  const Settings settings_;

  // Loop thread only.
  Socket socket_;
  boost::asio::steady_timer drain_timer_;
  Session session_;
  OutputBuffer out_;
  bool reading_ = false;  // inside OnReadable, which flushes at its end
  bool flush_scheduled_ = false;
  bool waiting_writable_ = false;
  bool closed_ = false;
};

}  // namespace croft::node::worker::http2
