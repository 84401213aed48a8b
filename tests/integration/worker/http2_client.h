// A small HTTP/2 client over a unix socket: the listener's part in these tests. One thread; nothing
// happens but inside its calls.
#pragma once

#include <nghttp2/nghttp2.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "proto/base/unique_fd.h"

namespace croft::node::worker {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct ClientResponse {
  int status = 0;
  std::map<std::string, std::string> headers;
  std::string body;
  std::int64_t body_bytes = 0;
  bool done = false;  // the stream is closed
  std::uint32_t error_code = 0;

  std::string Header(const std::string& name) const {
    const auto at = headers.find(name);
    return at == headers.end() ? std::string() : at->second;
  }
};

class Http2Client {
 public:
  struct Options {
    std::uint32_t stream_window = 1 << 20;
    std::uint32_t frame_size = 65'536;
    bool keep_bodies = true;
    bool credit_windows = true;  // without: what arrives is never credited
  };

  explicit Http2Client(const std::string& socket_path) : Http2Client(socket_path, Options()) {}
  Http2Client(const std::string& socket_path, Options options);
  Http2Client(const Http2Client&) = delete;
  Http2Client& operator=(const Http2Client&) = delete;
  ~Http2Client();

  // `headers` with the pseudo headers; returns the stream.
  std::int32_t Submit(const Headers& headers, std::string body = {});
  void Reset(std::int32_t stream);
  // Lets the stream send so many bytes more; for options without credit_windows.
  void Credit(std::int32_t stream, std::int32_t bytes);
  // Bytes that are no frames of ours, ahead of anything else.
  bool SendRaw(const std::string& bytes);
  // Moves bytes until `holds`; false when time is up or the connection ended before.
  bool RunUntil(const std::function<bool()>& holds,
                std::chrono::milliseconds time = std::chrono::seconds(15));
  // Until the stream is done.
  ClientResponse Await(std::int32_t stream);

  ClientResponse& response(std::int32_t stream) { return responses_[stream]; }
  std::uint32_t max_streams() const;
  bool goaway() const { return goaway_; }
  bool closed() const { return closed_; }

 private:
  struct Callbacks;

  bool Step(std::chrono::milliseconds wait);

  UniqueFd socket_;
  Options options_;
  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, ClientResponse> responses_;
  std::map<std::int32_t, std::string> bodies_;
  std::string out_;
  bool goaway_ = false;
  bool closed_ = false;
};

}  // namespace croft::node::worker
