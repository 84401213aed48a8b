// One request of a connection and its response: the request as its header arrives, the response as
// the fields that nghttp2 sends, which point into it. Loop thread only.
#pragma once

#include <nghttp2/nghttp2.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "node/worker/http/request.h"
#include "node/worker/http/response.h"
#include "node/worker/http2/response_body.h"
#include "node/worker/target_table.h"
#include "node/worker/task.h"

namespace croft::node::worker::http2 {

// A visitor's headers are at most 16 KiB by the listener's limits; the target's settings come on
// top.
inline constexpr std::size_t kHeaderBytesMax = 96 * 1024;

class Stream {
 public:
  explicit Stream(std::int32_t id) : id_(id) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  std::int32_t id() const { return id_; }

  void TakeHeader(std::string_view name, std::string_view value, TargetTable& targets);
  // After the last header. What is wrong with the request before any handler sees it; nullopt:
  // request() is complete.
  std::optional<http::Response> FinishRequest(TargetTable& targets);
  const http::Request& request() const { return request_; }

  // Once. The body stays in response() until its owner moves it into `body`.
  void SetResponse(http::Response response) { response_ = std::move(response); }
  http::Response& response() { return response_; }
  // The response's header, valid as long as the stream.
  std::span<const nghttp2_nv> MakeFields();

 private:
  static constexpr std::size_t kFieldsMax = 16;

  const std::int32_t id_;
  http::Request request_;
  std::string raw_path_;
  std::string target_;
  std::size_t header_bytes_ = 0;
  std::size_t targets_ = 0;

  http::Response response_;
  std::array<nghttp2_nv, kFieldsMax> fields_;
  std::array<char, 12> status_{};
  std::array<char, 12> substatus_{};
  std::array<char, 24> content_length_{};

 public:
  std::optional<ResponseBody> body;
  // Last, so destroyed first: it refers to the request.
  Task<bool> task;
};

}  // namespace croft::node::worker::http2
