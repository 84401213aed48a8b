#include "node/listener/worker_session.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "node/link/target_codec.h"
#include "node/listener/response_fields.h"
#include "proto/base/check.h"
#include "proto/base/error.h"

namespace croft::node::listener {
namespace {

// Of a response that went on to its visitor without waiting; then it is worth a wider window.
constexpr std::int64_t kBulkBytesMin = 512 * 1024;
constexpr std::size_t kPipedBytesMax = 256 * 1024;  // at once
constexpr std::size_t kPseudoFields = 6;            // four of HTTP/2, target and settings

nghttp2_nv Field(std::string_view name, std::string_view value,
                 std::uint8_t flags = NGHTTP2_NV_FLAG_NONE) {
  // The header is serialised before Submit returns, so nghttp2 need not copy.
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(),
          static_cast<std::uint8_t>(flags | NGHTTP2_NV_FLAG_NO_COPY_NAME |
                                    NGHTTP2_NV_FLAG_NO_COPY_VALUE)};
}

std::string_view View(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

v1::TargetSettings SettingsOf(const contract::Route& route) {
  v1::TargetSettings settings;
  settings.set_store_uid(route.root.store_uid);
  settings.set_store_path(route.root.store_path);
  *settings.mutable_settings() = *route.settings;
  return settings;
}

}  // namespace

// nghttp2's callbacks; user_data is the WorkerSession, a stream's user data its Exchange or null.
struct WorkerCallbacks {
  static Exchange* Find(nghttp2_session* session, std::int32_t stream_id) {
    return static_cast<Exchange*>(nghttp2_session_get_stream_user_data(session, stream_id));
  }

  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame,
                      const std::uint8_t* name, std::size_t name_size, const std::uint8_t* value,
                      std::size_t value_size, std::uint8_t, void* user) {
    Exchange* exchange = Find(session, frame->hd.stream_id);
    if (exchange != nullptr && !exchange->head_done &&
        !TakeResponseField(*exchange, View(name, name_size), View(value, value_size))) {
      static_cast<WorkerSession*>(user)->Reject(*exchange);
    }
    return 0;
  }

  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    auto& self = *static_cast<WorkerSession*>(user);
    if (frame->hd.type == NGHTTP2_GOAWAY) {
      self.goaway_ = true;
      return 0;
    }
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) {
      return 0;
    }
    Exchange* exchange = Find(session, frame->hd.stream_id);
    if (exchange == nullptr) {
      return 0;
    }
    const bool end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (frame->hd.type == NGHTTP2_HEADERS && !exchange->head_done) {
      self.OnResponseHead(*exchange, end);
    } else if (end) {
      exchange->ended = true;
      exchange->owner.Ring();
    }
    return 0;
  }

  static int OnBeginFrame(nghttp2_session*, const nghttp2_frame_hd* header, void* user) {
    static_cast<WorkerSession*>(user)->payload_.Begin(*header, kFrameBytesMax);
    return 0;
  }

  static int OnData(nghttp2_session* session, std::uint8_t, std::int32_t stream_id,
                    const std::uint8_t* data, std::size_t size, void* user) {
    auto& self = *static_cast<WorkerSession*>(user);
    self.payload_.Take(size);
    // The connection's window is credited at once; the stream's when the visitor took the bytes.
    nghttp2_session_consume_connection(session, size);
    Exchange* exchange = Find(session, stream_id);
    if (exchange == nullptr) {
      return 0;
    }
    self.WidenIfBulk(*exchange, size);
    if (self.piped_ != nullptr) {
      self.OnPiped(*exchange, size);
      return 0;
    }
    std::string_view bytes = View(data, size);
    if (exchange->sink != nullptr && exchange->body_view().empty()) {
      const std::size_t taken = exchange->sink->TakeBody(bytes);
      nghttp2_session_consume_stream(session, stream_id, taken);
      bytes.remove_prefix(taken);
    }
    if (!bytes.empty()) {
      exchange->body.append(bytes);
      exchange->owner.Ring();
    }
    return 0;
  }

  static int OnClose(nghttp2_session* session, std::int32_t stream_id, std::uint32_t error_code,
                     void* user) {
    static_cast<WorkerSession*>(user)->OnClose(stream_id, error_code, Find(session, stream_id));
    return 0;
  }

  static ssize_t ReadUpload(nghttp2_session*, std::int32_t, std::uint8_t* out, std::size_t size,
                            std::uint32_t* flags, nghttp2_data_source* source, void*) {
    auto* exchange = static_cast<Exchange*>(source->ptr);
    const std::size_t count = std::min(size, exchange->upload_size());
    std::memcpy(out, exchange->upload.data() + exchange->upload_taken, count);
    exchange->upload_taken += count;
    if (exchange->upload_size() == 0) {
      exchange->upload.clear();
      exchange->upload_taken = 0;
      if (exchange->upload_complete) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
      } else if (count == 0) {
        return NGHTTP2_ERR_DEFERRED;
      }
      exchange->owner.Ring();  // there is room for more of the body
    }
    return static_cast<ssize_t>(count);
  }

  static nghttp2_session_callbacks* Get() {
    static nghttp2_session_callbacks* const callbacks = [] {
      nghttp2_session_callbacks* made = nullptr;
      Check(nghttp2_session_callbacks_new(&made) == 0, "nghttp2 has no memory for callbacks");
      nghttp2_session_callbacks_set_on_header_callback(made, OnHeader);
      nghttp2_session_callbacks_set_on_frame_recv_callback(made, OnFrame);
      nghttp2_session_callbacks_set_on_begin_frame_callback(made, OnBeginFrame);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, OnData);
      nghttp2_session_callbacks_set_on_stream_close_callback(made, OnClose);
      return made;
    }();
    return callbacks;
  }
};

WorkerSession::WorkerSession(std::uint32_t streams_max) : settings_(link::kSettingsNumbers) {
  nghttp2_option* option = nullptr;
  Check(nghttp2_option_new(&option) == 0, "nghttp2 has no memory for options");
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_max_reserved_remote_streams(option, 0);
  // Until the worker's SETTINGS arrive; they say the same number.
  nghttp2_option_set_peer_max_concurrent_streams(option, streams_max);
  Check(nghttp2_session_client_new2(&session_, WorkerCallbacks::Get(), this, option) == 0,
        "nghttp2 has no memory for a session");
  nghttp2_option_del(option);
  const std::array<nghttp2_settings_entry, 4> settings{{
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindowBytes},
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, kFrameBytesMax},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kResponseHeaderBytesMax},
  }};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindowBytes);
}

WorkerSession::~WorkerSession() {
  FailAll(Failure::kWorkerLost, 0);
  nghttp2_session_del(session_);
}

bool WorkerSession::CanSubmit() const {
  return !goaway_ && nghttp2_session_check_request_allowed(session_) != 0 &&
         open_streams_ < static_cast<std::int64_t>(nghttp2_session_get_remote_settings(
                             session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS));
}

bool WorkerSession::Submit(Exchange& exchange) {
  const contract::Route& route = *exchange.route;
  const SettingsTable::Use use = settings_.Find({route.root.store_uid, route.settings});
  const std::string target = link::EncodeTarget({use.number, route.strip, route.root.path});
  const std::string settings =
      use.define ? link::EncodeSettings(use.number, SettingsOf(route)) : std::string();

  std::array<nghttp2_nv, kHeaderFieldsMax + kPseudoFields> fields;
  std::size_t count = 0;
  fields[count++] = Field(":method", exchange.head->method);
  fields[count++] = Field(":scheme", "http");
  fields[count++] = Field(":authority", exchange.authority);
  fields[count++] = Field(":path", exchange.head->path_and_query);
  fields[count++] = Field(link::kTargetHeader, target, NGHTTP2_NV_FLAG_NO_INDEX);
  if (use.define) {
    fields[count++] = Field(link::kSettingsHeader, settings, NGHTTP2_NV_FLAG_NO_INDEX);
  }
  for (const HeaderField& header : exchange.head->headers()) {
    if (header.forwarded) {
      fields[count++] = Field(header.name, header.value);
    }
  }
  nghttp2_data_provider upload{};
  upload.source.ptr = &exchange;
  upload.read_callback = &WorkerCallbacks::ReadUpload;
  const std::int32_t stream_id = nghttp2_submit_request(
      session_, nullptr, fields.data(), count, exchange.has_body ? &upload : nullptr, &exchange);
  if (stream_id < 0) {
    return false;
  }
  ++open_streams_;
  exchanges_.push_back(exchange);
  exchange.place = Exchange::Place::kInFlight;
  exchange.session = this;
  exchange.stream_id = stream_id;
  if (exchange.has_body) {
    exchange.owner.Ring();  // one that waited in the queue was not read: its body may come now
  }
  return Collect();
}

void WorkerSession::Cancel(Exchange& exchange) {
  nghttp2_session_set_stream_user_data(session_, exchange.stream_id, nullptr);
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, exchange.stream_id, NGHTTP2_CANCEL);
  exchange.unlink();
  exchange.place = Exchange::Place::kNowhere;
  exchange.session = nullptr;
}

void WorkerSession::ResumeUpload(Exchange& exchange) {
  nghttp2_session_resume_data(session_, exchange.stream_id);
}

void WorkerSession::Credit(Exchange& exchange, std::size_t bytes) {
  nghttp2_session_consume_stream(session_, exchange.stream_id, bytes);
}

absl::Status WorkerSession::Feed(std::string_view bytes) {
  const ssize_t taken = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (taken < 0) {
    return Error(absl::StatusCode::kInvalidArgument, "worker broke HTTP/2: {}",
                 nghttp2_strerror(static_cast<int>(taken)));
  }
  // A stream that nghttp2 has given up, for more than its content-length say, ends only when its
  // reset is serialised. Until then it drops the payload without a word, and none of it may be
  // counted on.
  if (payload_.worth_piping() > 0 && !Collect()) {
    return Error(absl::StatusCode::kInternal, "HTTP/2 to the worker cannot go on");
  }
  return absl::OkStatus();
}

std::size_t WorkerSession::NextIsPayload() const {
  if (payload_.worth_piping() == 0) {
    return 0;
  }
  const Exchange* exchange = WorkerCallbacks::Find(session_, payload_.stream());
  const bool taken = exchange != nullptr && exchange->sink != nullptr &&
                     exchange->body_view().empty() && exchange->sink->TakesBody();
  return taken ? std::min(payload_.worth_piping(), kPipedBytesMax) : 0;
}

// nghttp2 counts the bytes but never looks at them, so it is given others in their place.
absl::Status WorkerSession::FeedPiped(SplicePipe& pipe) {
  static const std::array<char, kPipedBytesMax> kInTheirPlace{};
  piped_ = &pipe;
  absl::Status fed = Feed({kInTheirPlace.data(), pipe.size()});
  piped_ = nullptr;
  if (pipe.size() > 0) {  // nghttp2 refused the stream
    std::string dropped;
    pipe.ReadInto(dropped, pipe.size());
  }
  return fed;
}

void WorkerSession::WidenIfBulk(Exchange& exchange, std::size_t size) {
  const std::int64_t before = exchange.body_received;
  exchange.body_received += static_cast<std::int64_t>(size);
  if (before < kBulkBytesMin && exchange.body_received >= kBulkBytesMin &&
      exchange.body_view().empty()) {
    nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, exchange.stream_id,
                                          kBulkWindowBytes);
  }
}

void WorkerSession::OnPiped(Exchange& exchange, std::size_t size) {
  const bool goes_on = exchange.sink != nullptr && exchange.body_view().empty();
  const std::size_t taken = goes_on ? exchange.sink->TakePiped(*piped_, size) : 0;
  nghttp2_session_consume_stream(session_, exchange.stream_id, taken);
  if (taken < size) {
    piped_->ReadInto(exchange.body, size - taken);
    exchange.owner.Ring();
  }
}

bool WorkerSession::Collect() {
  for (;;) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &bytes);
    if (size < 0) {
      return false;
    }
    if (size == 0) {
      return true;
    }
    output_.append(View(bytes, static_cast<std::size_t>(size)));
  }
}

bool WorkerSession::Finished() const {
  return (goaway_ && open_streams_ == 0) ||
         (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0);
}

void WorkerSession::FailAll(Failure why, std::uint64_t process_id) {
  while (!exchanges_.empty()) {
    Exchange& exchange = exchanges_.front();
    exchanges_.pop_front();
    nghttp2_session_set_stream_user_data(session_, exchange.stream_id, nullptr);
    exchange.lost_process_id = process_id;
    exchange.Fail(why);
  }
}

void WorkerSession::Reject(Exchange& exchange) {
  Cancel(exchange);
  exchange.Fail(Failure::kBadResponse);
}

void WorkerSession::OnResponseHead(Exchange& exchange, bool end_of_stream) {
  switch (FinishResponseHead(exchange)) {
    case ResponseHead::kInterim:
      break;
    case ResponseHead::kBad:
      Reject(exchange);
      break;
    case ResponseHead::kFinal:
      exchange.head_done = true;
      exchange.ended = end_of_stream;
      exchange.owner.Ring();
      break;
  }
}

void WorkerSession::OnClose(std::int32_t stream_id, std::uint32_t error_code, Exchange* exchange) {
  --open_streams_;
  ++closed_;
  if (exchange == nullptr) {
    return;
  }
  nghttp2_session_set_stream_user_data(session_, stream_id, nullptr);
  exchange->unlink();
  exchange->place = Exchange::Place::kNowhere;
  exchange->session = nullptr;
  if (exchange->ended) {
    exchange->owner.Ring();
    return;
  }
  switch (error_code) {
    case NGHTTP2_REFUSED_STREAM:
      exchange->Fail(Failure::kRefused);
      break;
    case NGHTTP2_PROTOCOL_ERROR:
    case NGHTTP2_FLOW_CONTROL_ERROR:
      exchange->Fail(Failure::kBadResponse);
      break;
    default:
      exchange->Fail(Failure::kWorkerLost);
  }
}

}  // namespace croft::node::listener
