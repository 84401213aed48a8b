// One loop's connection to one worker: the socket under a WorkerSession. Connects when first needed
// and again, after a pause, while the agent lists the worker. One loop only.
#pragma once

#include <boost/asio/local/stream_protocol.hpp>
#include <cstdint>
#include <memory>
#include <string_view>

#include "node/listener/loop_core.h"
#include "node/listener/pool_state.h"
#include "node/listener/worker_session.h"

namespace croft::node::listener {

class WorkerConnection;

// Who wants to know what became of a worker's places.
class WorkerOwner {
 public:
  virtual ~WorkerOwner() = default;
  // Streams ended; their places are free.
  virtual void OnStreamsClosed(WorkerConnection& worker, std::int64_t count) = 0;
  // The connection ended; every exchange it held has failed.
  virtual void OnDown(WorkerConnection& worker) = 0;
};

class WorkerConnection final : public Flushed,
                               public std::enable_shared_from_this<WorkerConnection> {
 public:
  struct Peer {
    bool checked = false;  // identities are separate, so the peer's uid tells
    uid_t launcher_uid = 0;
  };

  WorkerConnection(LoopCore& core, WorkerOwner& owner, std::shared_ptr<WorkerState> worker,
                   Peer peer);
  ~WorkerConnection() override;

  WorkerState& worker() { return *worker_; }
  // Connects if there is no connection; false when it cannot take a request now.
  bool Ready(std::int64_t streams_max);
  // REQUIRES: Ready() and a place taken at the worker.
  void Submit(Exchange& exchange);
  bool down() const { return session_ == nullptr; }
  bool stopped() const { return stopped_; }
  // Starts nothing more.
  void Stop() { stopped_ = true; }
  // The owner goes; exchanges that are here fail.
  void Detach();

  // The session got something to say.
  void Touch();
  void Flush() override;

 private:
  using Socket =
      asio::basic_stream_socket<asio::local::stream_protocol, asio::io_context::executor_type>;

  bool Connect();
  void StartRead();
  void OnReadable(const boost::system::error_code& error);
  // What is to be read next: bytes read, 0 at the end, -1 with errno; `wanted` are as many as it
  // asked for.
  ssize_t ReadSome(std::size_t& wanted, absl::Status& fed);
  bool Digest(const absl::Status& fed);
  void WaitWritable();
  // `died`: the peer ended it without saying so.
  void Drop(bool died, std::string_view reason);
  void ReportClosed();

  static constexpr std::chrono::milliseconds kReconnectPause{100};

  LoopCore& core_;
  WorkerOwner* owner_;
  const std::shared_ptr<WorkerState> worker_;
  const Peer peer_;
  Socket socket_;
  std::unique_ptr<WorkerSession> session_;
  std::size_t written_ = 0;  // of session_->output()
  unsigned generation_ = 0;  // of the socket: an older one's handlers do nothing
  bool waiting_writable_ = false;
  bool stopped_ = false;
  TimePoint connect_after_;
};

}  // namespace croft::node::listener
