// The HTTP/2 side of one connection from the listener: frames in, requests to the handler, frames
// out. It knows no socket: connection.h moves the bytes. nghttp2 lives here and in stream.h alone.
// Loop thread only.
#pragma once

#include <absl/status/status.h>
#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>

#include "node/worker/handlers/context.h"
#include "node/worker/http/response.h"
#include "node/worker/http2/output_buffer.h"
#include "node/worker/http2/stream.h"
#include "node/worker/store/file_pipe.h"
#include "node/worker/store/stores.h"
#include "node/worker/target_table.h"

namespace croft::node::worker::http2 {

// `bytes` is zero for none.
struct PipedPayload {
  std::shared_ptr<store::FilePipe> pipe;
  std::size_t bytes = 0;
};

class Session {
 public:
  // `context` and `stores` outlive it. `wake` is called when frames became ready outside of
  // Receive; it must not call back at once.
  Session(const handlers::Context& context, store::Stores& stores, std::uint32_t max_streams,
          std::function<void()> wake);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // Any error ends the connection.
  absl::Status Receive(std::span<const std::uint8_t> bytes);
  // Appends frames until `out` holds `bytes_max`, nothing is ready, or the last frame's payload is
  // in a pipe.
  absl::Status Send(OutputBuffer& out, std::size_t bytes_max);
  // The payload that follows what the last Send appended, and goes out before the next Send.
  PipedPayload TakePiped() { return std::exchange(piped_, {}); }

  // Tells the peer to stop; FinishDrain, some time later, refuses what still came.
  void StartDrain();
  void FinishDrain();
  // Nothing more will be received or sent.
  bool Finished() const;

 private:
  struct Callbacks;

  Task<bool> Serve(Stream& stream);
  void OnRequest(Stream& stream);
  void Submit(Stream& stream, http::Response response);
  void CountResponse(const http::Response& response);
  ssize_t ReadBody(Stream& stream, std::size_t length, std::uint32_t* flags);

  // Constant after construction.
  const handlers::Context& context_;
  const std::function<void()> wake_;

  // Loop thread only.
  nghttp2_session* session_ = nullptr;
  TargetTable targets_;
  std::unordered_map<std::int32_t, std::unique_ptr<Stream>> streams_;
  OutputBuffer* out_ = nullptr;  // during Send
  std::size_t out_bytes_max_ = 0;
  PipedPayload piped_;
  bool drained_ = false;
};

}  // namespace croft::node::worker::http2
