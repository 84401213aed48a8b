#include "node/listener/worker_connection.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <boost/asio/buffer.hpp>
#include <cerrno>
#include <cstring>
#include <string>

#include "proto/base/error.h"
#include "proto/base/log.h"
#include "proto/base/unique_fd.h"

namespace croft::node::listener {
namespace {

constexpr int kReadsPerEvent = 8;
constexpr std::size_t kFrameHeaderBytes = 9;
constexpr std::int64_t kFewStreams = 2;
constexpr std::size_t kOutputKeptBytes = 64 * 1024;

// A connected, non-blocking socket, or none: a unix socket connects at once or not at all.
UniqueFd ConnectUnix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return UniqueFd();
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return UniqueFd();
  }
  return socket;
}

std::optional<uid_t> PeerUid(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return std::nullopt;
  }
  return peer.uid;
}

}  // namespace

WorkerConnection::WorkerConnection(LoopCore& core, WorkerOwner& owner,
                                   std::shared_ptr<WorkerState> worker, Peer peer)
    : core_(core),
      owner_(&owner),
      worker_(std::move(worker)),
      peer_(peer),
      socket_(core.io().get_executor()) {}

WorkerConnection::~WorkerConnection() = default;

void WorkerConnection::Touch() {
  // With hardly anything in flight there is nothing to gather, and a turn of the loop costs.
  core_.MarkDirty(*this, session_ != nullptr && session_->open_streams() <= kFewStreams);
}

bool WorkerConnection::Ready(std::int64_t streams_max) {
  if (stopped_) {
    return false;
  }
  if (session_ == nullptr) {
    if (LoopCore::Now() < connect_after_ || !Connect()) {
      return false;
    }
    session_ = std::make_unique<WorkerSession>(static_cast<std::uint32_t>(streams_max));
    written_ = 0;
    StartRead();
  }
  return session_->CanSubmit();
}

bool WorkerConnection::Connect() {
  connect_after_ = LoopCore::Now() + kReconnectPause;
  UniqueFd fd = ConnectUnix(worker_->socket_path);
  if (!fd) {
    return false;
  }
  if (peer_.checked) {
    const auto uid = PeerUid(fd.get());
    // The launcher made the socket; a worker that listens again shows its own uid.
    if (!uid || (*uid != worker_->uid && *uid != peer_.launcher_uid)) {
      log::Error("listener", "a worker's socket belongs to another user; not used",
                 {{"path", worker_->socket_path}, {"uid", uid ? std::to_string(*uid) : "unknown"}});
      return false;
    }
  }
  boost::system::error_code error;
  socket_.assign(asio::local::stream_protocol(), fd.get(), error);
  if (error) {
    return false;
  }
  fd.release();
  socket_.native_non_blocking(true, error);
  return true;
}

void WorkerConnection::Submit(Exchange& exchange) {
  exchange.carrier = this;
  if (!session_->Submit(exchange)) {
    Drop(false, "its session takes no more requests");
    return;
  }
  Touch();
}

void WorkerConnection::StartRead() {
  socket_.async_wait(Socket::wait_read, [self = shared_from_this(), generation = generation_](
                                            const boost::system::error_code& error) {
    if (generation == self->generation_) {
      self->OnReadable(error);
    }
    // First the visitors get what came; only then is more waited for.
    self->core_.Settle();
    if (generation == self->generation_ && self->session_ != nullptr) {
      self->StartRead();
    }
  });
}

void WorkerConnection::OnReadable(const boost::system::error_code& error) {
  if (error) {
    Drop(true, "it closed the connection");
    return;
  }
  for (int i = 0; i < kReadsPerEvent; ++i) {
    std::size_t wanted = 0;
    absl::Status fed;
    const ssize_t size = ReadSome(wanted, fed);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
      break;
    }
    if (size <= 0) {
      Drop(true, "it closed the connection");
      return;
    }
    if (!Digest(fed)) {
      return;
    }
    if (static_cast<std::size_t>(size) < wanted) {
      break;
    }
  }
  Touch();  // acknowledgements, window updates, the last goodbye
}

// Every read of a loop uses its one large buffer, so that an idle connection holds none. A large
// payload goes by the pipe instead; of what follows one only the frame's header is read, since it
// probably begins another.
ssize_t WorkerConnection::ReadSome(std::size_t& wanted, absl::Status& fed) {
  SplicePipe& pipe = core_.splice_pipe();
  wanted = pipe.usable() ? session_->NextIsPayload() : 0;
  if (wanted > 0) {
    const ssize_t size = pipe.FillFrom(socket_.native_handle(), wanted);
    if (size > 0) {
      fed = session_->FeedPiped(pipe);
    }
    return size;
  }
  std::vector<char>& buffer = core_.read_buffer();
  const bool header_only = session_->AfterPayload();
  wanted = header_only ? kFrameHeaderBytes : buffer.size();
  const ssize_t size = ::recv(socket_.native_handle(), buffer.data(), wanted, 0);
  if (size > 0) {
    if (header_only) {
      session_->ForgetPayload();
    }
    fed = session_->Feed({buffer.data(), static_cast<std::size_t>(size)});
  }
  return size;
}

bool WorkerConnection::Digest(const absl::Status& fed) {
  ReportClosed();
  if (session_ != nullptr && !fed.ok()) {
    Drop(false, {fed.message().data(), fed.message().size()});
  }
  return session_ != nullptr;
}

void WorkerConnection::Flush() {
  if (session_ == nullptr || waiting_writable_) {
    return;
  }
  if (!session_->Collect()) {
    Drop(false, "its session broke");
    return;
  }
  ReportClosed();
  std::string& output = session_->output();
  while (written_ < output.size()) {
    const ssize_t size = ::send(socket_.native_handle(), output.data() + written_,
                                output.size() - written_, MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size < 0 && errno == EAGAIN) {
      WaitWritable();
      return;
    }
    if (size < 0) {
      // What it sent before it went may still be readable; the reader sees the end.
      break;
    }
    written_ += static_cast<std::size_t>(size);
  }
  output.clear();
  written_ = 0;
  if (output.capacity() > kOutputKeptBytes) {
    output.shrink_to_fit();
  }
  if (session_->Finished()) {
    Drop(false, "one of us said goodbye");
  }
}

void WorkerConnection::WaitWritable() {
  waiting_writable_ = true;
  socket_.async_wait(Socket::wait_write, [self = shared_from_this(), generation = generation_](
                                             const boost::system::error_code& error) {
    if (!error && generation == self->generation_) {
      self->waiting_writable_ = false;
      self->Flush();
    }
    self->core_.Settle();
  });
}

void WorkerConnection::ReportClosed() {
  const std::int64_t count = session_->TakeClosed();
  if (count > 0 && owner_ != nullptr) {
    owner_->OnStreamsClosed(*this, count);
  }
}

void WorkerConnection::Drop(bool died, std::string_view reason) {
  const std::int64_t open = session_->open_streams();
  log::Debug("listener", "connection to a worker ended",
             {{"path", worker_->socket_path},
              {"err", std::string(reason)},
              {"req", std::to_string(open)}});
  const bool counts = died && !worker_->draining;
  const auto self = shared_from_this();  // the owner may let go of it below
  ++generation_;
  const auto ended = std::move(session_);
  boost::system::error_code ignored;
  socket_.close(ignored);
  waiting_writable_ = false;
  connect_after_ = LoopCore::Now() + kReconnectPause;
  ended->FailAll(Failure::kWorkerLost, counts ? worker_->process_id : 0);
  if (owner_ == nullptr) {
    return;
  }
  if (open > 0) {
    owner_->OnStreamsClosed(*this, open);
  }
  owner_->OnDown(*this);
}

void WorkerConnection::Detach() {
  stopped_ = true;
  if (session_ != nullptr) {
    Drop(false, "the agent took it away");
  }
  owner_ = nullptr;
}

}  // namespace croft::node::listener
