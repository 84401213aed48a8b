#include "node/listener/visitor_socket.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

namespace croft::node::listener {

VisitorSocket::VisitorSocket(Socket socket, Wakeup& wakeup, SocketOwner& owner)
    : socket_(std::move(socket)), wakeup_(wakeup), owner_(owner) {}

void VisitorSocket::Consume(std::size_t size) {
  begin_ += size;
  if (begin_ == end_) {
    begin_ = end_ = held_;
  }
}

void VisitorSocket::ReleaseHead() {
  std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = held_ = 0;
}

void VisitorSocket::Reserve(std::size_t capacity) {
  if (capacity == capacity_) {
    return;
  }
  // Uninitialised on purpose: only what was read is looked at.
  std::unique_ptr<char[]> bigger = std::make_unique_for_overwrite<char[]>(capacity);
  if (end_ > 0) {
    std::memcpy(bigger.get(), buffer_.get(), end_);
  }
  buffer_ = std::move(bigger);
  capacity_ = capacity;
}

void VisitorSocket::StartRead() {
  reading_ = true;
  socket_.async_read_some(asio::buffer(buffer_.get() + end_, room()),
                          [this, owner = boost::intrusive_ptr<SocketOwner>(&owner_)](
                              const boost::system::error_code& error, std::size_t size) {
                            OnRead(error, size);
                            owner->OnSocketEvent();
                          });
}

void VisitorSocket::OnRead(const boost::system::error_code& error, std::size_t size) {
  reading_ = false;
  if (error == asio::error::eof) {
    ended_ = true;
  } else if (error) {
    ended_ = broken_ = true;
  }
  end_ += size;
  bytes_received_ += static_cast<std::int64_t>(size);
  wakeup_.Ring();
}

void VisitorSocket::WatchForReset() {
  if (watching_ || broken_) {
    return;
  }
  watching_ = true;
  socket_.async_wait(Socket::wait_error, [this, owner = boost::intrusive_ptr<SocketOwner>(&owner_)](
                                             const boost::system::error_code& error) {
    watching_ = false;
    if (!error) {
      ended_ = broken_ = true;
      wakeup_.Ring();
    }
    owner->OnSocketEvent();
  });
}

VisitorSocket::Progress VisitorSocket::Write(std::span<iovec> parts, std::size_t& sent) {
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  for (;;) {
    const ssize_t size = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL);
    if (size >= 0) {
      sent = static_cast<std::size_t>(size);
      bytes_sent_ += size;
      return Progress::kSome;
    }
    if (errno == EAGAIN) {
      return Progress::kBlocked;
    }
    if (errno != EINTR) {
      ended_ = broken_ = true;
      return Progress::kBroken;
    }
  }
}

std::size_t VisitorSocket::WritePiped(SplicePipe& pipe, std::size_t bytes) {
  std::size_t sent = 0;
  while (sent < bytes) {
    const ssize_t size = pipe.MoveTo(socket_.native_handle(), bytes - sent);
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size <= 0) {
      break;  // it is full; or gone, as the next write will see
    }
    sent += static_cast<std::size_t>(size);
  }
  bytes_sent_ += static_cast<std::int64_t>(sent);
  return sent;
}

void VisitorSocket::WaitWritable() {
  if (std::exchange(waiting_writable_, true)) {
    return;
  }
  socket_.async_wait(Socket::wait_write, [this, owner = boost::intrusive_ptr<SocketOwner>(&owner_)](
                                             const boost::system::error_code& error) {
    waiting_writable_ = false;
    if (error) {
      ended_ = broken_ = true;
    }
    wakeup_.Ring();
    owner->OnSocketEvent();
  });
}

void VisitorSocket::ShutdownWrite() { ::shutdown(socket_.native_handle(), SHUT_WR); }

void VisitorSocket::Close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
  ended_ = broken_ = true;
}

}  // namespace croft::node::listener
