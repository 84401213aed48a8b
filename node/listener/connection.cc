#include "node/listener/connection.h"

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "node/listener/loop.h"

namespace croft::node::listener {
namespace {

using counters::NodeCounter;
using std::chrono::milliseconds;

constexpr std::size_t kFirstBufferBytes = 4 * 1024;
constexpr std::size_t kUploadRoomBytes = 32 * 1024;
constexpr std::size_t kLingerBytesMax = 1024 * 1024;
constexpr milliseconds kLingerTime{2000};

// Empty lines before a request line are ignored (RFC 9112 section 2.2), a few of them.
std::size_t EmptyLines(std::string_view bytes) {
  std::size_t size = 0;
  while (size < 8 && bytes.substr(size, 2) == "\r\n") {
    size += 2;
  }
  return size;
}

}  // namespace

Connection::Connection(Loop& loop, VisitorSocket::Socket socket, LocalAddress local,
                       std::string client_ip, std::uint16_t client_port)
    : loop_(loop),
      wakeup_(loop.core().ready()),
      deadline_(loop.core().wheel(), wakeup_),
      socket_(std::move(socket), wakeup_, *this),
      local_(std::move(local)),
      client_ip_(std::move(client_ip)),
      client_port_(client_port) {
  const auto& timeouts = loop.router().node_settings().timeouts();
  idle_timeout_ms_ = timeouts.idle();
  header_timeout_ms_ = timeouts.header();
  loop_.shared().node.Add(NodeCounter::kConnectionsTotal);
  loop_.shared().node.Add(NodeCounter::kConnections);
}

Connection::~Connection() { loop_.shared().node.Add(NodeCounter::kConnections, -1); }

void Connection::Start() {
  self_ = this;
  loop_.Add(*this);
  socket_.Reserve(kFirstBufferBytes);
  run_ = Run();
  run_.Start();
}

void Connection::Abort() {
  socket_.Close();
  wakeup_.Ring();
}

void Connection::OnSocketEvent() { loop_.core().Settle(); }

Task<> Connection::Run() {
  while (co_await ReadHead()) {
    if (!co_await Serve()) {
      break;
    }
    socket_.ReleaseHead();
    if (socket_.capacity() > kFirstBufferBytes && socket_.unread().empty()) {
      socket_.Reserve(kFirstBufferBytes);
    }
  }
  if (linger_) {
    co_await Linger();
  }
  deadline_.Clear();
  socket_.Close();
  loop_.Remove(*this);
  // The frame that runs here belongs to the connection: it goes a turn later.
  asio::post(loop_.core().io(), [self = std::move(self_)] {});
}

Task<bool> Connection::ReadHead() {
  scanner_.Reset();
  head_refusal_.reset();
  bool begun = false;
  for (;;) {
    if (!begun) {
      socket_.Consume(EmptyLines(socket_.unread_view()));
      if (!socket_.unread().empty()) {
        begun = true;
        began_ = LoopCore::Now();
        deadline_.Set(began_ + milliseconds(header_timeout_ms_));
        socket_.ReleaseHead();
      }
    }
    const HeadScanner::Result result = scanner_.Scan(socket_.unread_view());
    if (result == HeadScanner::Result::kBadLine) {
      head_refusal_ = Refusal{400, "Invalid_CR/LF"};
      head_size_ = 0;
      co_return true;
    }
    const bool complete = result == HeadScanner::Result::kComplete;
    if ((complete ? scanner_.head_size() : socket_.unread().size()) > kHeadBytesMax) {
      head_refusal_ = Refusal{431, "RequestLength"};
      head_size_ = 0;
      co_return true;
    }
    if (complete) {
      head_size_ = scanner_.head_size();
      deadline_.Clear();
      co_return true;
    }
    if (socket_.ended() || (!begun && loop_.closing())) {
      co_return false;
    }
    if (deadline_.expired()) {
      OnHeadTimeout(begun);
      co_return begun;
    }
    if (!begun && !socket_.reading()) {
      deadline_.Set(LoopCore::Now() + milliseconds(idle_timeout_ms_));
    }
    if (!socket_.reading()) {
      if (socket_.room() == 0) {
        socket_.Reserve(std::min(socket_.capacity() * 2, kHeadBytesMax + kFirstBufferBytes));
      }
      socket_.StartRead();
    }
    co_await wakeup_;
  }
}

void Connection::OnHeadTimeout(bool begun) {
  if (begun) {
    head_refusal_ = Refusal{408, "Timer_HeaderWait"};
    head_size_ = 0;
  } else {
    LogError(0, "Timer_ConnectionIdle");
  }
}

std::optional<Refusal> Connection::Parse() {
  if (head_refusal_) {
    return head_refusal_;
  }
  RequestState& request = *request_;
  request.parser.emplace();
  auto refusal = request.parser->ParseHead(socket_.unread().first(head_size_), request.head);
  if (!refusal && request.head.body != BodyKind::kNone &&
      socket_.capacity() < head_size_ + kUploadRoomBytes) {
    // The body is read behind the head, which then has to stay where it is.
    socket_.Reserve(head_size_ + kUploadRoomBytes);
    request.head.Clear();
    request.parser.emplace();
    refusal = request.parser->ParseHead(socket_.unread().first(head_size_), request.head);
  }
  return refusal;
}

Task<bool> Connection::Serve() {
  request_ = loop_.TakeRequest();
  sent_before_ = socket_.bytes_sent();
  site_row_ = counters::Row();
  loop_.shared().node.Add(NodeCounter::kRequestsTotal);
  const std::optional<Refusal> refusal = Parse();
  socket_.HoldHead(head_size_);
  bool goes_on = false;
  if (refusal) {
    loop_.shared().node.Add(NodeCounter::kBadRequestsTotal);
    OwnAnswer answer = RefusalAnswer(*refusal);
    answer.may_keep_alive = false;
    goes_on = co_await Answer(std::move(answer));
  } else if (std::optional<OwnAnswer> own = Decide()) {
    goes_on = co_await Answer(*std::move(own));
  } else {
    goes_on = co_await Relay();
  }
  loop_.GiveRequest(std::move(request_));
  co_return goes_on && !socket_.broken() && !loop_.closing();
}

ResponseRelay::Context Connection::RelayContext(PoolQueue& pool) {
  return {loop_.core(),
          socket_,
          wakeup_,
          deadline_,
          *request_->parser,
          *request_->exchange,
          pool,
          loop_.closing(),
          loop_.shared().guard,
          loop_.shared().outbox};
}

Task<bool> Connection::Relay() {
  FillExchange();
  Exchange& exchange = *request_->exchange;
  ResponseRelay::Outcome outcome;
  OwnAnswer own;  // a named one: g++ 12 destroys an aggregate in a co_await expression twice
  {
    ResponseRelay relay(RelayContext(loop_.Pool(request_->route.pool_uid)));
    outcome = co_await relay.Run();
  }
  switch (outcome.end) {
    case ResponseRelay::End::kComplete:
      loop_.shared().guard.OnServed(request_->route.site->uid, request_->route.path);
      FinishRequest(exchange.status, exchange.substatus);
      linger_ = exchange.has_body && !request_->parser->BodyDone();
      co_return outcome.keep_alive;
    case ResponseRelay::End::kRefused:
      own = RefusalAnswer(outcome.refusal);
      own.may_keep_alive = !exchange.has_body;
      co_return co_await Answer(std::move(own));
    case ResponseRelay::End::kCut:
    case ResponseRelay::End::kVisitorGone:
      LogError(exchange.status, outcome.refusal.reason);
      FinishRequest(exchange.status, exchange.substatus);
      co_return false;
  }
  co_return false;
}

Task<> Connection::WriteAll(std::string_view bytes) {
  TimePoint progress = LoopCore::Now();
  while (!bytes.empty() && !socket_.broken()) {
    std::array<iovec, 1> part{{{const_cast<char*>(bytes.data()), bytes.size()}}};
    std::size_t sent = 0;
    if (socket_.Write(part, sent) == VisitorSocket::Progress::kSome) {
      bytes.remove_prefix(sent);
      progress = LoopCore::Now();
      continue;
    }
    socket_.WaitWritable();
    deadline_.Set(progress + milliseconds(loop_.router().node_settings().timeouts().send()));
    co_await wakeup_;
    if (deadline_.expired()) {
      break;
    }
  }
  deadline_.Clear();
}

Task<> Connection::Linger() {
  socket_.ShutdownWrite();
  deadline_.Set(LoopCore::Now() + kLingerTime);
  std::size_t dropped = 0;
  while (!socket_.ended() && !deadline_.expired() && dropped < kLingerBytesMax) {
    dropped += socket_.unread().size();
    socket_.Consume(socket_.unread().size());
    if (!socket_.reading()) {
      if (socket_.room() == 0) {
        socket_.ReleaseHead();
      }
      socket_.StartRead();
    }
    co_await wakeup_;
  }
}

}  // namespace croft::node::listener
