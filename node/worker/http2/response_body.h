// Reads a response's body piece by piece as the peer takes it, holding at most one chunk: copied,
// or for the long rest of a file in a pipe that goes to the socket uncopied. Loop thread only.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "node/counters/counter_memory.h"
#include "node/worker/http/response.h"
#include "node/worker/store/file_pipe.h"
#include "node/worker/store/store_file.h"
#include "node/worker/store/store_waits.h"

namespace croft::node::worker::http2 {

class ResponseBody {
 public:
  // Both outlive it.
  ResponseBody(http::Body body, store::StoreWaits& waits, const counters::Row& counters)
      : body_(std::move(body)), waits_(waits), counters_(counters) {}
  ResponseBody(const ResponseBody&) = delete;
  ResponseBody& operator=(const ResponseBody&) = delete;
  ~ResponseBody();

  static constexpr ssize_t kWait = -1;    // call Await
  static constexpr ssize_t kBroken = -2;  // the file ended too early or cannot be read

  // Copies up to `room` of the next bytes; at least one unless kWait or kBroken. REQUIRES:
  // !AtEnd().
  ssize_t Fill(std::uint8_t* to, std::size_t room);
  // Whether the next bytes are to be taken by TakePiped, not by Fill. REQUIRES: !AtEnd().
  bool NextIsPiped() const;
  // How many of the next bytes, up to `room`, are now the next in pipe(); at least one unless kWait
  // or kBroken.
  ssize_t TakePiped(std::size_t room);
  const std::shared_ptr<store::FilePipe>& pipe() const { return pipe_; }
  bool AtEnd() const { return piece_ == body_.pieces.size(); }

  // After kWait: has the store's threads read; then calls `ready` once, on the loop.
  void Await(std::function<void()> ready);

 private:
  ssize_t FillFromFile(const http::Piece& piece, std::uint8_t* to, std::size_t room);
  void Advance(const http::Piece& piece, std::size_t count);
  void AwaitChunk(std::function<void()> ready);
  void AwaitPipe(std::function<void()> ready);

  http::Body body_;
  store::StoreWaits& waits_;
  const counters::Row& counters_;
  std::size_t piece_ = 0;
  std::int64_t done_ = 0;  // bytes of the current piece
  // What a thread read last, and where in the file it begins.
  std::string chunk_;
  std::int64_t chunk_offset_ = 0;
  // Filled by a thread when it is empty; it holds the next `piped_` bytes.
  std::shared_ptr<store::FilePipe> pipe_;
  std::size_t piped_ = 0;
  bool no_pipe_ = false;  // there is none to be had
  bool broken_ = false;
  std::optional<store::StoreWaits::Ticket> ticket_;
};

}  // namespace croft::node::worker::http2
