// Carries one request to a pool and its response back to the visitor: the body up against the
// worker's window, the response down as the visitor drains it, a lost worker's static request once
// more. One per request. One loop only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "croft/v1/settings.pb.h"
#include "node/listener/crash_guard.h"
#include "node/listener/deadline.h"
#include "node/listener/exchange.h"
#include "node/listener/http1_request.h"
#include "node/listener/outbox.h"
#include "node/listener/pool_queue.h"
#include "node/listener/task.h"
#include "node/listener/visitor_socket.h"

namespace croft::node::listener {

class ResponseRelay final : private BodySink {
 public:
  enum class End : std::uint8_t {
    kComplete,
    kRefused,      // nothing was sent; `refusal` says what to answer
    kCut,          // the response had begun and cannot be finished
    kVisitorGone,  // he left, or took nothing for too long
  };
  struct Outcome {
    End end = End::kComplete;
    Refusal refusal;  // also the reason of kCut and kVisitorGone
    bool keep_alive = false;
  };
  struct Context {
    LoopCore& core;
    VisitorSocket& socket;
    Wakeup& wakeup;
    Deadline& deadline;
    RequestParser& parser;
    Exchange& exchange;
    PoolQueue& pool;
    const bool& closing;  // the listener ends: no more keep-alive
    CrashGuard& guard;
    Outbox& outbox;
  };

  // REQUIRES: the exchange's request is filled in.
  explicit ResponseRelay(const Context& context);
  ~ResponseRelay() override;
  ResponseRelay(const ResponseRelay&) = delete;
  ResponseRelay& operator=(const ResponseRelay&) = delete;

  Task<Outcome> Run();

 private:
  enum class Step : std::uint8_t { kWait, kDone };

  // One look at everything that may have happened.
  Step Advance();
  void PumpUpload();
  void BuildHead();
  void Write();
  void QueueBody();
  std::size_t TakeBody(std::string_view bytes) override;
  bool TakesBody() const override;
  std::size_t TakePiped(SplicePipe& pipe, std::size_t bytes) override;
  void OnFailure();
  void OnDeath();
  void OnExpired();
  void SetDeadline();
  void Finish(End end, int status, std::string_view reason);
  bool ResponseWritten() const;
  bool MayTryAgain() const;

  const Context c_;
  const RequestHead& head_;
  const croft::v1::Settings& settings_;
  Outcome outcome_;
  std::string out_;  // head and chunks that wait to be written
  std::size_t out_taken_ = 0;
  bool head_built_ = false;
  bool no_body_ = false;
  bool chunked_ = false;
  bool last_chunk_queued_ = false;
  bool blocked_ = false;  // the visitor takes nothing now
  bool done_ = false;
  bool continue_sent_ = false;
  bool tried_again_ = false;
  TimePoint write_progress_;
  TimePoint read_progress_;
};

}  // namespace croft::node::listener
