#include "node/worker/http2/connection.h"

#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

#include "proto/base/log.h"

namespace croft::node::worker::http2 {

using boost::system::error_code;

namespace {

using counters::WorkerCounter;

// Frames made ahead of the socket, at most.
constexpr std::size_t kOutBytesMax = 256 * 1024;
// The kernel allows less as a rule: as much as there is.
constexpr int kSendBufferBytes = 1024 * 1024;
// Between telling the listener to stop and refusing what it still sends; it has answered long
// before.
constexpr std::chrono::milliseconds kDrainGrace{100};

}  // namespace

Connection::Connection(Socket socket, const handlers::Context& context, store::Stores& stores,
                       Settings settings)
    : context_(context),
      settings_(std::move(settings)),
      socket_(std::move(socket)),
      drain_timer_(socket_.get_executor()),
      session_(context, stores, settings_.max_streams, [this] { ScheduleFlush(); }) {
  // A pipe's bytes are moved with no flag that would keep the socket from blocking.
  error_code ignored;
  socket_.native_non_blocking(true, ignored);
  socket_.set_option(boost::asio::socket_base::send_buffer_size(kSendBufferBytes), ignored);
}

void Connection::Start() {
  context_.counters.Add(WorkerCounter::kConnectionsTotal);
  Flush();
  if (!closed_) {
    Read();
  }
}

void Connection::Drain() {
  if (closed_) {
    return;
  }
  session_.StartDrain();
  ScheduleFlush();
  drain_timer_.expires_after(kDrainGrace);
  drain_timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error && !self->closed_) {
      self->session_.FinishDrain();
      self->Flush();
    }
  });
}

void Connection::Read() {
  socket_.async_read_some(boost::asio::buffer(in_),
                          [self = shared_from_this()](const error_code& error, std::size_t count) {
                            if (!self->closed_) {
                              self->OnRead(error, count);
                            }
                          });
}

void Connection::OnRead(const error_code& error, std::size_t count) {
  if (error) {
    Close();
    return;
  }
  reading_ = true;
  const absl::Status received = session_.Receive(std::span(in_).first(count));
  reading_ = false;
  if (!received.ok()) {
    log::Warn("worker", "closed a connection", {{"err", std::string(received.message())}});
    Close();
    return;
  }
  Flush();
  if (!closed_) {
    Read();
  }
}

// Posted, never at once: the caller may be a coroutine of a stream that flushing would end.
void Connection::ScheduleFlush() {
  if (reading_ || flush_scheduled_ || waiting_writable_ || closed_) {
    return;
  }
  flush_scheduled_ = true;
  boost::asio::post(socket_.get_executor(), [weak = weak_from_this()] {
    if (const auto self = weak.lock(); self != nullptr) {
      self->flush_scheduled_ = false;
      self->Flush();
    }
  });
}

void Connection::Flush() {
  if (closed_ || waiting_writable_) {
    return;
  }
  if (!WriteReady() || (session_.Finished() && out_.empty() && piped_.bytes == 0)) {
    Close();
  }
}

bool Connection::WriteReady() {
  while (true) {
    if (out_.size() < kOutBytesMax && piped_.bytes == 0) {
      if (const absl::Status sent = session_.Send(out_, kOutBytesMax); !sent.ok()) {
        log::Warn("worker", "closed a connection", {{"err", std::string(sent.message())}});
        return false;
      }
      piped_ = session_.TakePiped();
    }
    if (out_.empty() && piped_.bytes == 0) {
      return true;
    }
    const ssize_t n = WriteSome();
    if (n < 0) {
      if (errno == EAGAIN || errno == EINTR) {
        WaitWritable();
        return true;
      }
      return false;
    }
    context_.counters.Add(WorkerCounter::kBytesSentTotal, n);
  }
}

ssize_t Connection::WriteSome() {
  if (out_.empty()) {
    const ssize_t n = piped_.pipe->MoveTo(socket_.native_handle(), piped_.bytes);
    if (n > 0) {
      piped_.bytes -= static_cast<std::size_t>(n);
    }
    return n;
  }
  const std::span<const std::uint8_t> bytes = out_.bytes();
  const ssize_t n =
      ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n > 0) {
    out_.TakeFront(static_cast<std::size_t>(n));
  }
  return n;
}

void Connection::WaitWritable() {
  waiting_writable_ = true;
  socket_.async_wait(Socket::wait_write, [self = shared_from_this()](const error_code& error) {
    self->waiting_writable_ = false;
    if (!error) {
      self->Flush();
    }
  });
}

void Connection::Close() {
  if (closed_) {
    return;
  }
  closed_ = true;
  drain_timer_.cancel();
  error_code ignored;
  socket_.close(ignored);
  settings_.on_closed(*this);
}

}  // namespace croft::node::worker::http2
