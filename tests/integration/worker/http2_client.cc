#include "tests/integration/worker/http2_client.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace croft::node::worker {

struct Http2Client::Callbacks {
  static Http2Client& Self(void* user) { return *static_cast<Http2Client*>(user); }

  static int OnHeader(nghttp2_session* /*session*/, const nghttp2_frame* frame,
                      const std::uint8_t* name, std::size_t name_size, const std::uint8_t* value,
                      std::size_t value_size, std::uint8_t /*flags*/, void* user) {
    ClientResponse& response = Self(user).responses_[frame->hd.stream_id];
    const std::string key(reinterpret_cast<const char*>(name), name_size);
    const std::string text(reinterpret_cast<const char*>(value), value_size);
    if (key == ":status") {
      response.status = std::stoi(text);
    } else {
      response.headers[key] = text;
    }
    return 0;
  }

  static int OnData(nghttp2_session* session, std::uint8_t /*flags*/, std::int32_t stream,
                    const std::uint8_t* bytes, std::size_t count, void* user) {
    Http2Client& self = Self(user);
    ClientResponse& response = self.responses_[stream];
    response.body_bytes += static_cast<std::int64_t>(count);
    if (self.options_.keep_bodies) {
      response.body.append(reinterpret_cast<const char*>(bytes), count);
    }
    if (self.options_.credit_windows) {
      nghttp2_session_consume(session, stream, count);
    } else {
      nghttp2_session_consume_connection(session, count);
    }
    return 0;
  }

  static int OnStreamClose(nghttp2_session* /*session*/, std::int32_t stream, std::uint32_t code,
                           void* user) {
    ClientResponse& response = Self(user).responses_[stream];
    response.done = true;
    response.error_code = code;
    return 0;
  }

  static int OnFrame(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_GOAWAY) {
      Self(user).goaway_ = true;
    }
    return 0;
  }

  static ssize_t ReadBody(nghttp2_session* /*session*/, std::int32_t stream, std::uint8_t* to,
                          std::size_t room, std::uint32_t* flags, nghttp2_data_source* /*source*/,
                          void* user) {
    std::string& body = Self(user).bodies_[stream];
    const std::size_t count = std::min(room, body.size());
    std::memcpy(to, body.data(), count);
    body.erase(0, count);
    if (body.empty()) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
    }
    return static_cast<ssize_t>(count);
  }
};

Http2Client::Http2Client(const std::string& socket_path, Options options) : options_(options) {
  socket_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
  closed_ =
      ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0;
  ::fcntl(socket_.get(), F_SETFL, O_NONBLOCK);

  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, &Callbacks::OnHeader);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &Callbacks::OnData);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &Callbacks::OnStreamClose);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &Callbacks::OnFrame);
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_session_client_new2(&session_, callbacks, this, option);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options_.stream_window},
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, options_.frame_size},
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, 0x7fffffff);
}

Http2Client::~Http2Client() { nghttp2_session_del(session_); }

std::int32_t Http2Client::Submit(const Headers& headers, std::string body) {
  std::vector<nghttp2_nv> fields;
  for (const auto& [name, value] : headers) {
    fields.push_back({.name = reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
                      .value = reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())),
                      .namelen = name.size(),
                      .valuelen = value.size(),
                      .flags = NGHTTP2_NV_FLAG_NONE});
  }
  nghttp2_data_provider provider{};
  provider.read_callback = &Callbacks::ReadBody;
  const std::int32_t stream = nghttp2_submit_request(
      session_, nullptr, fields.data(), fields.size(), body.empty() ? nullptr : &provider, nullptr);
  if (stream > 0) {
    bodies_[stream] = std::move(body);
  }
  return stream;
}

void Http2Client::Reset(std::int32_t stream) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
}

void Http2Client::Credit(std::int32_t stream, std::int32_t bytes) {
  nghttp2_submit_window_update(session_, NGHTTP2_FLAG_NONE, stream, bytes);
}

bool Http2Client::SendRaw(const std::string& bytes) {
  return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

bool Http2Client::RunUntil(const std::function<bool()>& holds, std::chrono::milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  while (!holds()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0 || closed_ || !Step(left)) {
      return holds();
    }
  }
  return true;
}

bool Http2Client::Step(std::chrono::milliseconds wait) {
  const std::uint8_t* bytes = nullptr;
  while (out_.size() < 65'536) {
    const ssize_t n = nghttp2_session_mem_send(session_, &bytes);
    if (n <= 0) {
      break;
    }
    out_.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(n));
  }
  if (!out_.empty()) {
    const ssize_t n = ::send(socket_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN) {
      closed_ = true;
      return false;
    }
    out_.erase(0, n > 0 ? static_cast<std::size_t>(n) : 0);
  }
  pollfd ready{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  if (!out_.empty() || nghttp2_session_want_write(session_) != 0) {
    ready.events |= POLLOUT;
  }
  if (::poll(&ready, 1, static_cast<int>(std::min<std::int64_t>(wait.count(), 100))) <= 0 ||
      (ready.revents & POLLIN) == 0) {
    return (ready.revents & POLLHUP) == 0;
  }
  std::array<std::uint8_t, 65'536> buffer;
  const ssize_t n = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
  if (n <= 0 ||
      nghttp2_session_mem_recv(session_, buffer.data(), static_cast<std::size_t>(n)) < 0) {
    closed_ = true;
    return false;
  }
  return true;
}

ClientResponse Http2Client::Await(std::int32_t stream) {
  RunUntil([&] { return responses_[stream].done; });
  return responses_[stream];
}

std::uint32_t Http2Client::max_streams() const {
  return nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

}  // namespace croft::node::worker
