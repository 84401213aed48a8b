#include "tests/integration/listener/scripted_worker.h"

#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

namespace croft::node::listener::test {

struct ScriptedStream {
  std::string path;
  std::string fields;
  std::string body;
  std::size_t to_send = 0;
  std::string echo;
  bool ended = false;
  bool answered = false;
};

struct ScriptedConnection {
  ScriptedWorker* worker = nullptr;
  UniqueFd socket;
  nghttp2_session* session = nullptr;
  std::map<std::int32_t, ScriptedStream> streams;
  std::string output;
  bool dead = false;

  ScriptedConnection(ScriptedWorker* owner, UniqueFd fd) : worker(owner), socket(std::move(fd)) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, OnBegin);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnClose);
    nghttp2_session_server_new(&session, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry streams_max{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1000};
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, &streams_max, 1);
    Flush();
  }
  ~ScriptedConnection() {
    worker->open_streams_ -= static_cast<int>(streams.size());
    nghttp2_session_del(session);
  }

  static ScriptedConnection& Self(void* user) { return *static_cast<ScriptedConnection*>(user); }

  static int OnBegin(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Self(user).streams[frame->hd.stream_id];
    ++Self(user).worker->requests_;
    const int open = ++Self(user).worker->open_streams_;
    Self(user).worker->most_streams_ = std::max<int>(Self(user).worker->most_streams_, open);
    return 0;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                      std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                      std::uint8_t, void* user) {
    const std::string_view key(reinterpret_cast<const char*>(name), name_size);
    const std::string_view text(reinterpret_cast<const char*>(value), value_size);
    ScriptedStream& stream = Self(user).streams[frame->hd.stream_id];
    if (key == ":path") {
      stream.path = text;
    }
    stream.fields.append(key).append("=").append(text).append("\n");
    return 0;
  }

  static int OnData(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                    std::size_t size, void* user) {
    Self(user).streams[id].body.append(reinterpret_cast<const char*>(data), size);
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      Self(user).streams[frame->hd.stream_id].ended = true;
      Self(user).Answer(frame->hd.stream_id);
    }
    return 0;
  }

  static int OnClose(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
    Self(user).streams.erase(id);
    --Self(user).worker->open_streams_;
    return 0;
  }

  static ssize_t GiveBody(nghttp2_session*, std::int32_t id, std::uint8_t* out, std::size_t size,
                          std::uint32_t* flags, nghttp2_data_source*, void* user) {
    ScriptedStream& stream = Self(user).streams[id];
    if (stream.path == "/crash-mid" && stream.to_send < 50'000) {
      Self(user).worker->crashed_ = true;
      return NGHTTP2_ERR_DEFERRED;
    }
    const std::size_t count = std::min(size, stream.to_send);
    if (stream.echo.empty()) {
      std::memset(out, 'x', count);
    } else {
      std::memcpy(out, stream.echo.data() + stream.echo.size() - stream.to_send, count);
    }
    stream.to_send -= count;
    Self(user).worker->body_bytes_given_ += static_cast<std::int64_t>(count);
    if (stream.to_send == 0) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
    }
    return static_cast<ssize_t>(count);
  }

  void Respond(std::int32_t id, std::string_view status, std::string echo, std::size_t size,
               std::vector<std::pair<std::string, std::string>> more) {
    ScriptedStream& stream = streams[id];
    stream.answered = true;
    stream.echo = std::move(echo);
    stream.to_send = stream.echo.empty() ? size : stream.echo.size();
    more.insert(more.begin(), {":status", std::string(status)});
    std::vector<nghttp2_nv> fields;
    for (auto& [name, value] : more) {
      fields.push_back({reinterpret_cast<std::uint8_t*>(name.data()),
                        reinterpret_cast<std::uint8_t*>(value.data()), name.size(), value.size(),
                        NGHTTP2_NV_FLAG_NONE});
    }
    nghttp2_data_provider body{};
    body.read_callback = GiveBody;
    const bool head = stream.fields.find(":method=HEAD\n") != std::string::npos;
    nghttp2_submit_response(session, id, fields.data(), fields.size(), head ? nullptr : &body);
  }

  void Answer(std::int32_t id) {
    const ScriptedStream& stream = streams[id];
    const std::string path = stream.path.substr(0, stream.path.find('?'));
    const auto number = [&](std::size_t from) {
      return std::strtoul(path.c_str() + from, nullptr, 10);
    };
    if (path.rfind("/bytes/", 0) == 0) {
      Respond(id, "200", "", number(7), {{"content-length", std::to_string(number(7))}});
    } else if (path.rfind("/stream/", 0) == 0) {
      Respond(id, "200", "", number(8), {{"content-type", "text/plain"}});
    } else if (path == "/echo") {
      Respond(id, "200", stream.body, 0, {});
    } else if (path == "/headers") {
      Respond(id, "200", stream.fields, 0,
              {{"croft-substatus", "7"}, {"server", "evil"}, {"x-mine", "yes"}});
    } else if (path == "/crash") {
      worker->crashed_ = true;
    } else if (path == "/crash-mid") {
      Respond(id, "200", "", 100'000, {{"content-length", "100000"}});
    } else if (path == "/garbage") {
      output.assign(4096, '\x7f');
    } else if (path == "/huge-header") {
      Respond(id, "200", "", 1, {{"x-big", std::string(40'000, 'a')}});
    } else if (path == "/many-fields") {
      Respond(id, "200", "", 1,
              std::vector<std::pair<std::string, std::string>>(200, {"x-one", "more"}));
    } else if (path == "/status-99") {
      Respond(id, "099", "", 1, {});
    } else if (path == "/refuse") {
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
    } else if (path != "/never") {
      Respond(id, "200", "hello from " + path, 0, {});
    }
  }

  void ReleaseAll() {
    for (auto& [id, stream] : streams) {
      if (stream.ended && !stream.answered) {
        Respond(id, "200", "released", 0, {});
      }
    }
  }

  void Flush() {
    for (;;) {
      const std::uint8_t* bytes = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session, &bytes);
      if (size <= 0) {
        break;
      }
      output.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    }
    while (!output.empty()) {
      const ssize_t sent =
          ::send(socket.get(), output.data(), output.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent <= 0) {
        break;
      }
      output.erase(0, static_cast<std::size_t>(sent));
    }
  }

  void Read() {
    std::array<std::uint8_t, 65536> bytes;
    const ssize_t size = ::recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (size == 0 || (size > 0 && nghttp2_session_mem_recv(session, bytes.data(),
                                                           static_cast<std::size_t>(size)) < 0)) {
      dead = true;
    }
  }
};

ScriptedWorker::ScriptedWorker(std::string socket_path)
    : path_(std::move(socket_path)),
      listening_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
  ::bind(listening_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
  ::listen(listening_.get(), 64);
  thread_ = std::thread([this] { Run(); });
}

ScriptedWorker::~ScriptedWorker() {
  stopping_ = true;
  const std::uint64_t one = 1;
  static_cast<void>(::write(wake_.get(), &one, sizeof one));
  thread_.join();
  ::unlink(path_.c_str());
}

void ScriptedWorker::Release() {
  release_ = true;
  const std::uint64_t one = 1;
  static_cast<void>(::write(wake_.get(), &one, sizeof one));
}

// A crash ends the connections and the listening socket at once, as the end of a process does.
void ScriptedWorker::Run() {
  std::vector<std::unique_ptr<ScriptedConnection>> open;
  while (!stopping_) {
    std::vector<pollfd> waits{{listening_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    for (const auto& connection : open) {
      const short events = connection->output.empty() ? POLLIN : POLLIN | POLLOUT;
      waits.push_back({connection->socket.get(), events, 0});
    }
    ::poll(waits.data(), waits.size(), -1);
    std::uint64_t ignored = 0;
    static_cast<void>(::read(wake_.get(), &ignored, sizeof ignored));
    for (std::size_t i = 0; i < open.size(); ++i) {
      if ((waits[i + 2].revents & (POLLIN | POLLHUP)) != 0) {
        open[i]->Read();
      }
      if (release_) {
        open[i]->ReleaseAll();
      }
      open[i]->Flush();
    }
    if (crashed_) {
      open.clear();
      listening_.reset();
      continue;
    }
    std::erase_if(open, [](const auto& connection) { return connection->dead; });
    if ((waits[0].revents & POLLIN) != 0) {
      UniqueFd fd(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (fd) {
        ++connections_;
        open.push_back(std::make_unique<ScriptedConnection>(this, std::move(fd)));
      }
    }
  }
}

}  // namespace croft::node::listener::test
