// HTTP/2 with one worker, as bytes in and bytes out: nghttp2's client session. The worker is
// treated as hostile: header count and size, frame and window limits are the listener's, and what
// breaks them ends the stream or the session. Fuzzed. One loop only.
#pragma once

#include <absl/status/status.h>
#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "node/listener/exchange.h"
#include "node/listener/incoming_payload.h"
#include "node/listener/response_fields.h"
#include "node/listener/settings_table.h"
#include "node/listener/splice_pipe.h"

namespace croft::node::listener {

// What of a response waits here at most; a long one whose visitor takes it fast gets the wider
// window, so that worker and listener need not wait for each other.
inline constexpr std::int32_t kStreamWindowBytes = 256 * 1024;
inline constexpr std::int32_t kBulkWindowBytes = 1024 * 1024;
inline constexpr std::uint32_t kFrameBytesMax = 1024 * 1024;
inline constexpr std::int32_t kConnectionWindowBytes = 1 << 30;

class WorkerSession {
 public:
  // `streams_max` is the pool's max_concurrent_requests.
  explicit WorkerSession(std::uint32_t streams_max);
  ~WorkerSession();
  WorkerSession(const WorkerSession&) = delete;
  WorkerSession& operator=(const WorkerSession&) = delete;

  // Whether the worker takes another stream: its own limit, GOAWAY.
  bool CanSubmit() const;
  // Starts the exchange and serialises its header into the output. False: the session is of no more
  // use. REQUIRES: CanSubmit().
  bool Submit(Exchange& exchange);
  // Nobody wants the response any more.
  void Cancel(Exchange& exchange);
  // More of the body is in exchange.upload, or it is complete.
  void ResumeUpload(Exchange& exchange);
  // The visitor took `bytes` of the response: the worker may send as many more.
  void Credit(Exchange& exchange, std::size_t bytes);

  // Bytes from the worker. An error says why the connection is to be closed.
  absl::Status Feed(std::string_view bytes);
  // How many of the worker's next bytes are a large payload whose visitor takes it now, to be fed
  // by FeedPiped.
  std::size_t NextIsPayload() const;
  // Whether a large payload has just ended, so that the next bytes are probably another's header.
  bool AfterPayload() const { return payload_.large_ended(); }
  // Something was read since.
  void ForgetPayload() { payload_.Forget(); }
  // As Feed; the bytes, at most NextIsPayload(), are in the pipe, which is empty afterwards.
  absl::Status FeedPiped(SplicePipe& pipe);
  // Serialises what waits, appending to output(); false when the session is of no more use.
  bool Collect();
  std::string& output() { return output_; }
  // Neither side has anything more to say: GOAWAY was received and no stream is open.
  bool Finished() const;

  // Streams, also those whose exchange was cancelled, that are not closed.
  std::int64_t open_streams() const { return open_streams_; }
  // Streams closed since the last call.
  std::int64_t TakeClosed() { return std::exchange(closed_, 0); }
  // Fails every exchange that is still here.
  void FailAll(Failure why, std::uint64_t process_id);
  const ExchangeList& exchanges() const { return exchanges_; }

 private:
  friend struct WorkerCallbacks;
  void WidenIfBulk(Exchange& exchange, std::size_t size);
  void OnPiped(Exchange& exchange, std::size_t size);
  void OnResponseHead(Exchange& exchange, bool end_of_stream);
  void OnClose(std::int32_t stream_id, std::uint32_t error_code, Exchange* exchange);
  // Ends the stream because of what the worker sent.
  void Reject(Exchange& exchange);

  nghttp2_session* session_ = nullptr;
  SettingsTable settings_;
  std::string output_;
  ExchangeList exchanges_;
  std::int64_t open_streams_ = 0;
  std::int64_t closed_ = 0;
  bool goaway_ = false;
  IncomingPayload payload_;
  SplicePipe* piped_ = nullptr;  // during FeedPiped
};

}  // namespace croft::node::listener
