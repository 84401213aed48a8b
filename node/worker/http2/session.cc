#include "node/worker/http2/session.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "node/worker/handlers/static_files.h"
#include "proto/base/check.h"
#include "proto/base/error.h"

namespace croft::node::worker::http2 {
namespace {

using counters::WorkerCounter;

constexpr std::uint32_t kStreamWindowBytes = 256 * 1024;
constexpr std::int32_t kConnectionWindowBytes = 0x7fffffff;
constexpr std::size_t kCopiedFrameBytesMax = 64 * 1024;
constexpr std::size_t kPipedFrameBytesMax = 1024 * 1024;
constexpr std::size_t kFrameHeaderBytes = 9;

}  // namespace

// nghttp2's way in: finds the objects and passes on.
struct Session::Callbacks {
  static Stream* FindStream(nghttp2_session* session, std::int32_t id) {
    return static_cast<Stream*>(nghttp2_session_get_stream_user_data(session, id));
  }

  static int OnBeginHeaders(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    Session& self = *static_cast<Session*>(user);
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) {
      return 0;  // trailers
    }
    auto stream = std::make_unique<Stream>(frame->hd.stream_id);
    nghttp2_session_set_stream_user_data(session, stream->id(), stream.get());
    self.streams_.emplace(stream->id(), std::move(stream));
    self.context_.counters.Add(WorkerCounter::kRequestsActive);
    return 0;
  }

  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame,
                      const std::uint8_t* name, std::size_t name_size, const std::uint8_t* value,
                      std::size_t value_size, std::uint8_t /*flags*/, void* user) {
    Stream* stream = FindStream(session, frame->hd.stream_id);
    if (stream != nullptr && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
      stream->TakeHeader({reinterpret_cast<const char*>(name), name_size},
                         {reinterpret_cast<const char*>(value), value_size},
                         static_cast<Session*>(user)->targets_);
    }
    return 0;
  }

  // Bodies are not asked for: their bytes are dropped, and nghttp2 credits the windows.
  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) {
      return 0;
    }
    if (Stream* stream = FindStream(session, frame->hd.stream_id); stream != nullptr) {
      static_cast<Session*>(user)->OnRequest(*stream);
    }
    return 0;
  }

  static int OnStreamClose(nghttp2_session* session, std::int32_t id, std::uint32_t /*code*/,
                           void* user) {
    Session& self = *static_cast<Session*>(user);
    nghttp2_session_set_stream_user_data(session, id, nullptr);
    if (self.streams_.erase(id) != 0) {
      self.context_.counters.Add(WorkerCounter::kRequestsActive, -1);
    }
    return 0;
  }

  static ssize_t ReadBody(nghttp2_session* /*session*/, std::int32_t /*id*/,
                          std::uint8_t* /*buffer*/, std::size_t length, std::uint32_t* flags,
                          nghttp2_data_source* source, void* user) {
    return static_cast<Session*>(user)->ReadBody(*static_cast<Stream*>(source->ptr), length, flags);
  }

  // The frame's payload is already where it belongs, in the output or a pipe: see
  // Session::ReadBody.
  static int SendData(nghttp2_session* /*session*/, nghttp2_frame* /*frame*/,
                      const std::uint8_t* header, std::size_t length,
                      nghttp2_data_source* /*source*/, void* user) {
    const Session& self = *static_cast<Session*>(user);
    if (self.piped_.bytes > 0) {
      self.out_->Append(header, kFrameHeaderBytes);
      return NGHTTP2_ERR_PAUSE;
    }
    std::memcpy(self.out_->Reserve(kFrameHeaderBytes + length), header, kFrameHeaderBytes);
    self.out_->Commit(kFrameHeaderBytes + length);
    return self.out_->size() < self.out_bytes_max_ ? 0 : NGHTTP2_ERR_PAUSE;
  }

  static ssize_t DataFrameLength(nghttp2_session* session, std::uint8_t /*type*/, std::int32_t id,
                                 std::int32_t session_window, std::int32_t stream_window,
                                 std::uint32_t frame_bytes_max, void* /*user*/) {
    const std::size_t window = static_cast<std::size_t>(std::min(session_window, stream_window));
    const Stream* stream = FindStream(session, id);
    const bool piped = stream != nullptr && stream->body.has_value() && !stream->body->AtEnd() &&
                       stream->body->NextIsPiped();
    return static_cast<ssize_t>(std::min({window, static_cast<std::size_t>(frame_bytes_max),
                                          piped ? kPipedFrameBytesMax : kCopiedFrameBytesMax}));
  }

  static nghttp2_session_callbacks* Table() {
    static nghttp2_session_callbacks* const table = [] {
      nghttp2_session_callbacks* made = nullptr;
      Check(nghttp2_session_callbacks_new(&made) == 0, "nghttp2 makes its callback table");
      nghttp2_session_callbacks_set_on_begin_headers_callback(made, &OnBeginHeaders);
      nghttp2_session_callbacks_set_on_header_callback(made, &OnHeader);
      nghttp2_session_callbacks_set_on_frame_recv_callback(made, &OnFrame);
      nghttp2_session_callbacks_set_on_stream_close_callback(made, &OnStreamClose);
      nghttp2_session_callbacks_set_send_data_callback(made, &SendData);
      nghttp2_session_callbacks_set_data_source_read_length_callback(made, &DataFrameLength);
      return made;
    }();
    return table;
  }
};

Session::Session(const handlers::Context& context, store::Stores& stores, std::uint32_t max_streams,
                 std::function<void()> wake)
    : context_(context), wake_(std::move(wake)), targets_(stores) {
  nghttp2_option* option = nullptr;
  Check(nghttp2_option_new(&option) == 0, "nghttp2 makes its options");
  nghttp2_option_set_no_closed_streams(option, 1);
  const int made = nghttp2_session_server_new2(&session_, Callbacks::Table(), this, option);
  nghttp2_option_del(option);
  Check(made == 0, "nghttp2 makes a session");
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, max_streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindowBytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kHeaderBytesMax},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
  };
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindowBytes);
}

Session::~Session() {
  context_.counters.Add(WorkerCounter::kRequestsActive,
                        -static_cast<std::int64_t>(streams_.size()));
  streams_.clear();
  nghttp2_session_del(session_);
}

absl::Status Session::Receive(std::span<const std::uint8_t> bytes) {
  const ssize_t n = nghttp2_session_mem_recv(session_, bytes.data(), bytes.size());
  if (n < 0) {
    return Error(absl::StatusCode::kInvalidArgument, "HTTP/2 from the listener: {}",
                 nghttp2_strerror(static_cast<int>(n)));
  }
  return absl::OkStatus();
}

absl::Status Session::Send(OutputBuffer& out, std::size_t bytes_max) {
  out_ = &out;
  out_bytes_max_ = bytes_max;
  ssize_t n = 1;
  while (out.size() < bytes_max && piped_.bytes == 0) {
    const std::size_t before = out.size();
    const std::uint8_t* bytes = nullptr;
    n = nghttp2_session_mem_send(session_, &bytes);
    if (n > 0) {
      out.Append(bytes, static_cast<std::size_t>(n));
    }
    if (n < 0 || (n == 0 && out.size() == before)) {
      break;
    }
  }
  out_ = nullptr;
  if (n < 0) {
    return Error(absl::StatusCode::kInternal, "HTTP/2 to the listener: {}",
                 nghttp2_strerror(static_cast<int>(n)));
  }
  return absl::OkStatus();
}

void Session::StartDrain() { nghttp2_submit_shutdown_notice(session_); }

void Session::FinishDrain() {
  drained_ = true;
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
}

bool Session::Finished() const {
  const bool wants =
      nghttp2_session_want_read(session_) != 0 || nghttp2_session_want_write(session_) != 0;
  return !wants || (drained_ && streams_.empty() && nghttp2_session_want_write(session_) == 0);
}

void Session::OnRequest(Stream& stream) {
  context_.counters.Add(WorkerCounter::kRequestsTotal);
  stream.task = Serve(stream);
  stream.task.Start();
}

Task<bool> Session::Serve(Stream& stream) {
  if (auto refusal = stream.FinishRequest(targets_); refusal.has_value()) {
    Submit(stream, *std::move(refusal));
    co_return false;
  }
  http::Response response = co_await handlers::ServeStaticFile(stream.request(), context_);
  Submit(stream, std::move(response));
  co_return true;
}

void Session::Submit(Stream& stream, http::Response response) {
  CountResponse(response);
  stream.SetResponse(std::move(response));
  const std::span<const nghttp2_nv> fields = stream.MakeFields();
  nghttp2_data_provider provider{};
  provider.source.ptr = &stream;
  provider.read_callback = &Callbacks::ReadBody;
  const bool has_body = !stream.response().body.pieces.empty();
  if (has_body) {
    stream.body.emplace(std::move(stream.response().body), context_.waits, context_.counters);
  }
  nghttp2_submit_response(session_, stream.id(), fields.data(), fields.size(),
                          has_body ? &provider : nullptr);
  wake_();
}

void Session::CountResponse(const http::Response& response) {
  const counters::Row& counters = context_.counters;
  if (response.body.file != nullptr) {
    counters.Add(WorkerCounter::kFilesSentTotal);
  }
  if (response.status == 404) {
    counters.Add(WorkerCounter::kNotFoundTotal);
  } else if (response.status == 304) {
    counters.Add(WorkerCounter::kNotModifiedTotal);
  } else if (response.status == 206) {
    counters.Add(WorkerCounter::kRangesTotal);
  }
}

// Reads straight into the output, behind the room for the frame's header, or says what of a pipe is
// the payload; SendData, which nghttp2 calls next, completes the frame.
ssize_t Session::ReadBody(Stream& stream, std::size_t length, std::uint32_t* flags) {
  ResponseBody& body = *stream.body;
  const bool piped = body.NextIsPiped();
  const ssize_t n =
      piped ? body.TakePiped(length)
            : body.Fill(out_->Reserve(kFrameHeaderBytes + length) + kFrameHeaderBytes, length);
  if (n == ResponseBody::kWait) {
    body.Await([this, id = stream.id()] {
      nghttp2_session_resume_data(session_, id);
      wake_();
    });
    return NGHTTP2_ERR_DEFERRED;
  }
  if (n < 0) {
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // resets the stream: the length promised cannot
                                                   // be sent
  }
  if (piped) {
    piped_ = {body.pipe(), static_cast<std::size_t>(n)};
  }
  *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (body.AtEnd()) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
  }
  return n;
}

}  // namespace croft::node::worker::http2
