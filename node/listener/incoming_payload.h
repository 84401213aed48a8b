// The DATA frame that is being received from a worker: how much of its payload is still to come, so
// that a large one is moved through a pipe instead of being copied. One loop only.
#pragma once

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace croft::node::listener {

class IncomingPayload {
 public:
  // A frame's header was read. A frame of more than `bytes_max` is about to be refused.
  void Begin(const nghttp2_frame_hd& header, std::size_t bytes_max) {
    const bool payload = header.type == NGHTTP2_DATA && (header.flags & NGHTTP2_FLAG_PADDED) == 0 &&
                         header.length <= bytes_max;
    stream_ = header.stream_id;
    left_ = payload ? header.length : 0;
    large_ = left_ >= kPipedBytesMin && (header.flags & NGHTTP2_FLAG_END_STREAM) == 0;
  }
  void Take(std::size_t bytes) { left_ -= std::min(bytes, left_); }

  std::int32_t stream() const { return stream_; }
  // Bytes that are worth a pipe, none when they are few.
  std::size_t worth_piping() const { return left_ >= kPipedBytesMin ? left_ : 0; }
  // A large one has just ended, so that the next bytes are probably another's header.
  bool large_ended() const { return large_ && left_ == 0; }
  void Forget() { large_ = false; }

 private:
  // Less is copied sooner than spliced.
  static constexpr std::size_t kPipedBytesMin = 32 * 1024;

  std::int32_t stream_ = 0;
  std::size_t left_ = 0;
  bool large_ = false;
};

}  // namespace croft::node::listener
