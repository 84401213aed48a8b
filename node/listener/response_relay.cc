#include "node/listener/response_relay.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "node/listener/http1_response.h"
#include "proto/contract/url_path.h"

namespace croft::node::listener {
namespace {

using std::chrono::milliseconds;

Refusal Explain(Failure failure) {
  switch (failure) {
    case Failure::kNone:
      break;
    case Failure::kQueueFull:
      return {503, "QueueFull"};
    case Failure::kPoolStopped:
      return {503, "Disabled"};
    case Failure::kPoolRemoved:
      return {503, "AppOffline"};
    case Failure::kQueueTimeout:
      return {503, "Timer_ReqQueue"};
    case Failure::kWorkerLost:
    case Failure::kRefused:
      return {503, "Connection_Abandoned_By_ReqQueue"};
    case Failure::kBadResponse:
      return {502, "BadResponse"};
  }
  return {500, "Internal"};
}

}  // namespace

ResponseRelay::ResponseRelay(const Context& context)
    : c_(context),
      head_(*context.exchange.head),
      settings_(*context.exchange.route->settings),
      out_(context.core.buffers().Take()) {
  c_.exchange.body = c_.core.buffers().Take();
}

ResponseRelay::~ResponseRelay() {
  c_.exchange.sink = nullptr;
  c_.pool.Cancel(c_.exchange);
  c_.core.buffers().Give(std::move(out_));
  c_.core.buffers().Give(std::move(c_.exchange.body));
}

Task<ResponseRelay::Outcome> ResponseRelay::Run() {
  c_.pool.Submit(c_.exchange, false);
  while (Advance() == Step::kWait) {
    SetDeadline();
    co_await c_.wakeup;
    if (c_.deadline.expired()) {
      OnExpired();
    }
  }
  c_.deadline.Clear();
  co_return outcome_;
}

ResponseRelay::Step ResponseRelay::Advance() {
  if (!done_ && c_.socket.broken()) {
    Finish(End::kVisitorGone, 0, head_built_ ? "Connection_Dropped" : "Client_Reset");
  }
  if (!done_) {
    PumpUpload();
  }
  if (!done_ && c_.exchange.failure != Failure::kNone) {
    OnFailure();
  }
  if (!done_ && c_.exchange.head_done && !head_built_) {
    BuildHead();
  }
  if (!done_) {
    Write();
  }
  if (!done_ && ResponseWritten()) {
    outcome_.keep_alive = outcome_.keep_alive && (!c_.exchange.has_body || c_.parser.BodyDone());
    done_ = true;
  }
  return done_ ? Step::kDone : Step::kWait;
}

void ResponseRelay::Finish(End end, int status, std::string_view reason) {
  outcome_.end = end;
  outcome_.refusal = {status, reason};
  outcome_.keep_alive = false;
  done_ = true;
}

// Moves body bytes from the visitor towards the worker while there is room; nothing is read before
// a worker has the request.
void ResponseRelay::PumpUpload() {
  Exchange& exchange = c_.exchange;
  if (!exchange.has_body || exchange.upload_complete ||
      exchange.place != Exchange::Place::kInFlight || exchange.ended) {
    return;
  }
  const std::size_t before = exchange.upload_size();
  if (before < kUploadBufferBytes && !c_.socket.unread().empty()) {
    std::optional<Refusal> refusal;
    const std::size_t consumed =
        c_.parser.FeedBody(c_.socket.unread_view(), exchange.upload, refusal);
    c_.socket.Consume(consumed);
    exchange.upload_received += static_cast<std::int64_t>(consumed);
    if (refusal) {
      Finish(head_built_ ? End::kCut : End::kRefused, refusal->status, refusal->reason);
      return;
    }
  }
  exchange.upload_complete = c_.parser.BodyDone();
  if (exchange.upload_complete || exchange.upload_size() > before) {
    exchange.session->ResumeUpload(exchange);
    exchange.carrier->Touch();
  }
  if (exchange.upload_complete || c_.socket.reading()) {
    return;
  }
  if (c_.socket.ended()) {
    Finish(End::kVisitorGone, 0, "Connection_Dropped");
    return;
  }
  if (c_.socket.room() == 0) {
    // Chunk framing, such as an extension or a trailer, that is longer than the buffer.
    Finish(head_built_ ? End::kCut : End::kRefused, 400, "BadChunk");
    return;
  }
  if (exchange.upload_size() < kUploadBufferBytes) {
    if (head_.expects_continue && !continue_sent_ && !head_built_) {
      out_.append("HTTP/1.1 100 Continue\r\n\r\n");
    }
    continue_sent_ = true;
    read_progress_ = LoopCore::Now();
    c_.socket.StartRead();
  }
}

bool ResponseRelay::MayTryAgain() const {
  const Failure failure = c_.exchange.failure;
  return !tried_again_ && !head_built_ && !c_.exchange.has_body &&
         (failure == Failure::kRefused || failure == Failure::kWorkerLost) &&
         (head_.method == "GET" || head_.method == "HEAD");
}

void ResponseRelay::OnDeath() {
  const contract::Route& route = *c_.exchange.route;
  if (!c_.guard.OnDeath(route.site->uid, route.path, c_.exchange.lost_process_id,
                        LoopCore::Now())) {
    return;
  }
  tried_again_ = true;  // not a third worker
  v1::ListenerToAgent message;
  v1::ChannelEvent& event = *message.mutable_event();
  event.set_kind("url_refused");
  event.set_site_uid(route.site->uid);
  event.set_pool_uid(route.pool_uid);
  event.set_message(fmt::format("{} {} was in flight when two workers died; refused for {} minutes",
                                route.site->name, contract::EncodeUrlPath(route.path),
                                CrashGuard::kRefusedFor.count()));
  c_.outbox.Put(std::move(message));
}

void ResponseRelay::OnFailure() {
  if (c_.exchange.lost_process_id != 0) {
    OnDeath();
  }
  c_.pool.state().row.Add(counters::PoolCounter::kLostWorkerTotal,
                          c_.exchange.failure == Failure::kWorkerLost ? 1 : 0);
  if (MayTryAgain()) {
    tried_again_ = true;
    c_.pool.state().row.Add(counters::PoolCounter::kRetriedTotal);
    c_.exchange.ResetResponse();
    c_.pool.Submit(c_.exchange, true);
    if (c_.exchange.failure == Failure::kNone) {
      return;
    }
  }
  const Refusal why = Explain(c_.exchange.failure);
  Finish(head_built_ ? End::kCut : End::kRefused, why.status, why.reason);
}

void ResponseRelay::BuildHead() {
  Exchange& exchange = c_.exchange;
  head_built_ = true;
  no_body_ = head_.method == "HEAD" || exchange.status == 204 || exchange.status == 304;
  if (!no_body_ && exchange.content_length < 0 && exchange.ended) {
    exchange.content_length = static_cast<std::int64_t>(exchange.body.size());
  }
  chunked_ = !no_body_ && exchange.content_length < 0 && head_.minor_version == 1;
  const bool until_close = !no_body_ && exchange.content_length < 0 && !chunked_;
  outcome_.keep_alive = head_.keep_alive && !c_.closing && !until_close &&
                        (!exchange.has_body || exchange.upload_complete);
  ConnectionField connection = ConnectionField::kNone;
  if (!outcome_.keep_alive) {
    connection = ConnectionField::kClose;
  } else if (head_.minor_version == 0) {
    connection = ConnectionField::kKeepAlive;
  }
  AppendResponseHead(exchange.status, c_.core.HttpDate(), connection, out_);
  out_.append(exchange.header);
  if (exchange.content_length >= 0 && exchange.status != 204) {
    AppendContentLength(exchange.content_length, out_);
  } else if (chunked_) {
    out_.append("Transfer-Encoding: chunked\r\n");
  }
  out_.append("\r\n");
  if (!no_body_ && !chunked_) {
    exchange.sink = this;
  }
}

// For a chunked response, the next chunks; what must not be sent is dropped.
void ResponseRelay::QueueBody() {
  Exchange& exchange = c_.exchange;
  if (!no_body_ && !chunked_) {
    return;
  }
  const std::string_view body = exchange.body_view();
  if (chunked_) {
    AppendChunk(body, out_);
    if (exchange.ended && !last_chunk_queued_) {
      out_.append(kLastChunk);
      last_chunk_queued_ = true;
    }
  }
  if (!body.empty() && exchange.session != nullptr) {
    exchange.session->Credit(exchange, body.size());
    exchange.carrier->Touch();
  }
  exchange.body.clear();
  exchange.body_taken = 0;
}

void ResponseRelay::Write() {
  Exchange& exchange = c_.exchange;
  if (c_.socket.waiting_writable()) {
    return;
  }
  blocked_ = false;
  while (!blocked_) {
    if (out_taken_ == out_.size()) {
      out_.clear();
      out_taken_ = 0;
      if (head_built_) {
        QueueBody();
      }
    }
    const std::string_view body = head_built_ && !chunked_ ? exchange.body_view() : "";
    std::array<iovec, 2> parts{{{out_.data() + out_taken_, out_.size() - out_taken_},
                                {const_cast<char*>(body.data()), body.size()}}};
    const std::size_t total = parts[0].iov_len + parts[1].iov_len;
    if (total == 0) {
      return;
    }
    std::size_t sent = 0;
    const VisitorSocket::Progress progress = c_.socket.Write(parts, sent);
    if (progress == VisitorSocket::Progress::kBroken) {
      Finish(End::kVisitorGone, 0, "Connection_Dropped");
      return;
    }
    blocked_ = progress == VisitorSocket::Progress::kBlocked || sent < total;
    const std::size_t of_out = std::min(sent, parts[0].iov_len);
    out_taken_ += of_out;
    if (const std::size_t of_body = sent - of_out; of_body > 0) {
      exchange.body_taken += of_body;
      if (exchange.body_taken == exchange.body.size()) {
        exchange.body.clear();
        exchange.body_taken = 0;
      }
      if (exchange.session != nullptr) {
        exchange.session->Credit(exchange, of_body);
        exchange.carrier->Touch();
      }
    }
  }
  write_progress_ = LoopCore::Now();
  c_.socket.WaitWritable();
}

// Between two turns of Run: what the socket does not take is written by the next one.
std::size_t ResponseRelay::TakeBody(std::string_view bytes) {
  if (!TakesBody()) {
    return 0;
  }
  std::array<iovec, 1> part{{{const_cast<char*>(bytes.data()), bytes.size()}}};
  std::size_t sent = 0;
  c_.socket.Write(part, sent);  // when it breaks, the next turn sees it
  return sent;
}

bool ResponseRelay::TakesBody() const {
  return !done_ && !blocked_ && out_taken_ == out_.size() && !c_.socket.broken() &&
         !c_.socket.waiting_writable();
}

std::size_t ResponseRelay::TakePiped(SplicePipe& pipe, std::size_t bytes) {
  return TakesBody() ? c_.socket.WritePiped(pipe, bytes) : 0;
}

bool ResponseRelay::ResponseWritten() const {
  return head_built_ && c_.exchange.ended && out_taken_ == out_.size() &&
         c_.exchange.body_view().empty() && (!chunked_ || last_chunk_queued_);
}

void ResponseRelay::SetDeadline() {
  const auto& timeouts = settings_.timeouts();
  if (c_.exchange.place == Exchange::Place::kQueued) {
    c_.socket.WatchForReset();
    c_.deadline.Set(c_.exchange.queued_at + milliseconds(timeouts.queue()));
  } else if (blocked_) {
    c_.deadline.Set(write_progress_ + milliseconds(timeouts.send()));
  } else if (c_.socket.reading()) {
    c_.deadline.Set(read_progress_ + milliseconds(timeouts.body()));
  } else {
    c_.deadline.Clear();
  }
}

void ResponseRelay::OnExpired() {
  if (c_.exchange.place == Exchange::Place::kQueued) {
    c_.pool.Cancel(c_.exchange);
    c_.pool.state().row.Add(counters::PoolCounter::kQueueTimeoutTotal);
    Finish(End::kRefused, 503, "Timer_ReqQueue");
  } else if (blocked_) {
    Finish(End::kVisitorGone, 0, "Timer_MinBytesPerSecond");
  } else if (c_.socket.reading()) {
    Finish(head_built_ ? End::kCut : End::kRefused, 408, "Timer_EntityBody");
  }
}

}  // namespace croft::node::listener
