// One connection from the listener: moves bytes between its unix socket and its Session. Loop
// thread only.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>

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
  void Read();
  void OnRead(const boost::system::error_code& error, std::size_t count);
  void WaitWritable();
  void ScheduleFlush();
  void Flush();
  // False when the peer is gone.
  bool WriteReady();
  // What the socket took of what is to be written next; -1 with errno.
  ssize_t WriteSome();
  void Close();

  // Constant after construction.
  const handlers::Context& context_;
  const Settings settings_;

  // Loop thread only.
  Socket socket_;
  boost::asio::steady_timer drain_timer_;
  Session session_;
  std::array<std::uint8_t, 32 * 1024> in_{};
  OutputBuffer out_;
  PipedPayload piped_;    // goes after `out_`
  bool reading_ = false;  // inside OnRead, which flushes at its end
  bool flush_scheduled_ = false;
  bool waiting_writable_ = false;
  bool closed_ = false;
};

}  // namespace croft::node::worker::http2
