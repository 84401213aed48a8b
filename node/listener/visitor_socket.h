// A visitor's connection as bytes: one read at a time into its own buffer, writes that never block,
// and news by ringing a Wakeup. The front of the buffer stays where it is while a request is
// served, since the request's head is views into it. One loop only.
#pragma once

#include <sys/uio.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "node/listener/loop_core.h"

namespace croft::node::listener {

// Whom pending handlers keep alive.
class SocketOwner : public boost::intrusive_ref_counter<SocketOwner, boost::thread_unsafe_counter> {
 public:
  virtual ~SocketOwner() = default;
  // A handler ran; what it rang is to be run.
  virtual void OnSocketEvent() = 0;
};

class VisitorSocket {
 public:
  using Socket = asio::basic_stream_socket<asio::ip::tcp, asio::io_context::executor_type>;
  enum class Progress : std::uint8_t { kSome, kBlocked, kBroken };

  VisitorSocket(Socket socket, Wakeup& wakeup, SocketOwner& owner);

  // Bytes read and not consumed.
  std::span<char> unread() { return {buffer_.get() + begin_, end_ - begin_}; }
  std::string_view unread_view() const { return {buffer_.get() + begin_, end_ - begin_}; }
  // Keeps the next `size` bytes in place, as a request's head, and begins reading behind them.
  void HoldHead(std::size_t size) { begin_ = held_ = size; }
  // REQUIRES: held, or nothing read before. Drops bytes from the front of unread().
  void Consume(std::size_t size);
  // The request is over: unread bytes move to the front. REQUIRES: !reading().
  void ReleaseHead();
  // Makes the buffer hold at least `capacity`; what points into it is lost. REQUIRES: !reading().
  void Reserve(std::size_t capacity);
  std::size_t capacity() const { return capacity_; }
  std::size_t room() const { return capacity_ - end_; }

  // REQUIRES: !reading(), room() > 0.
  void StartRead();
  bool reading() const { return reading_; }
  // The visitor sends nothing more.
  bool ended() const { return ended_; }
  // The connection is of no more use.
  bool broken() const { return broken_; }
  // Notices a visitor who resets while nothing is read from him.
  void WatchForReset();

  // Sends what it can; the number of bytes is added to `sent`.
  Progress Write(std::span<iovec> parts, std::size_t& sent);
  // Sends what it can of the first `bytes` that are in the pipe; returns how many.
  std::size_t WritePiped(SplicePipe& pipe, std::size_t bytes);
  // Rings when it can be written again.
  void WaitWritable();
  bool waiting_writable() const { return waiting_writable_; }

  void ShutdownWrite();
  void Close();

  std::int64_t bytes_received() const { return bytes_received_; }
  std::int64_t bytes_sent() const { return bytes_sent_; }

 private:
  void OnRead(const boost::system::error_code& error, std::size_t size);

  Socket socket_;
  Wakeup& wakeup_;
  SocketOwner& owner_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t held_ = 0;   // the head's end
  std::size_t begin_ = 0;  // unread bytes
  std::size_t end_ = 0;
  bool reading_ = false;
  bool watching_ = false;
  bool waiting_writable_ = false;
  bool ended_ = false;
  bool broken_ = false;
  std::int64_t bytes_received_ = 0;
  std::int64_t bytes_sent_ = 0;
};

}  // namespace croft::node::listener
