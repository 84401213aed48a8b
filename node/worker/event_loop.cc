#include "node/worker/event_loop.h"

#include <sys/socket.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "proto/base/log.h"

namespace croft::node::worker {
namespace {

using boost::system::error_code;

// After an accept that failed, for want of descriptors as a rule.
constexpr std::chrono::milliseconds kAcceptPause{100};

}  // namespace

EventLoop::EventLoop(UniqueFd listening, const Clock& clock, store::Stores& stores,
                     Settings settings)
    : settings_(settings),
      stores_(stores),
      waits_(io_, clock),
      context_{.waits = waits_, .clock = clock, .counters = settings.counters},
      acceptor_(io_, boost::asio::local::stream_protocol(), listening.release()),
      accept_pause_(io_) {}

void EventLoop::Run() {
  const auto work = boost::asio::make_work_guard(io_);
  Accept();
  io_.run();
}

void EventLoop::Drain(std::function<void()> drained) {
  boost::asio::post(io_, [this, drained = std::move(drained)]() mutable {
    if (drained_) {
      return;
    }
    drained_ = std::move(drained);
    error_code ignored;
    acceptor_.close(ignored);
    const std::vector<std::shared_ptr<http2::Connection>> open(connections_.begin(),
                                                               connections_.end());
    for (const auto& connection : open) {
      connection->Drain();
    }
    if (connections_.empty()) {
      drained_();
    }
  });
}

void EventLoop::Accept() {
  acceptor_.async_accept([this](const error_code& error, http2::Connection::Socket socket) {
    if (drained_ || error == boost::asio::error::operation_aborted) {
      return;
    }
    if (!error) {
      OnAccepted(std::move(socket));
      Accept();
      return;
    }
    log::Warn("worker", "cannot accept a connection", {{"err", error.message()}});
    accept_pause_.expires_after(kAcceptPause);
    accept_pause_.async_wait([this](const error_code&) { Accept(); });
  });
}

void EventLoop::OnAccepted(http2::Connection::Socket socket) {
  if (!IsAllowed(socket)) {
    return;
  }
  auto connection = std::make_shared<http2::Connection>(
      std::move(socket), context_, stores_,
      http2::Connection::Settings{
          .max_streams = settings_.max_streams,
          .on_closed = [this](http2::Connection& closed) { OnClosed(closed); }});
  connections_.insert(connection);
  connection->Start();
}

bool EventLoop::IsAllowed(http2::Connection::Socket& socket) const {
  if (!settings_.peer_uid.has_value()) {
    return true;
  }
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
      peer.uid == *settings_.peer_uid) {
    return true;
  }
  log::Warn("worker", "refused a connection of another user",
            {{"uid", std::to_string(peer.uid)}, {"expected", std::to_string(*settings_.peer_uid)}});
  return false;
}

void EventLoop::OnClosed(http2::Connection& connection) {
  connections_.erase(connection.shared_from_this());
  if (drained_ && connections_.empty()) {
    drained_();
  }
}

}  // namespace croft::node::worker
