#include "node/worker/http2/response_body.h"

#include <algorithm>
#include <cstring>

namespace croft::node::worker::http2 {
namespace {

using counters::WorkerCounter;

constexpr std::int64_t kChunkBytes = 128 * 1024;
// Less of a file is copied sooner than a thread has piped it.
constexpr std::int64_t kPipedBytesMin = 256 * 1024;

bool Holds(const std::string& held, std::int64_t held_offset, std::int64_t offset) {
  return offset >= held_offset && offset - held_offset < static_cast<std::int64_t>(held.size());
}

// Copies what `held`, bytes of the file from `held_offset`, has at `offset`.
std::size_t CopyHeld(const std::string& held, std::int64_t held_offset, std::int64_t offset,
                     std::uint8_t* to, std::size_t room) {
  if (!Holds(held, held_offset, offset)) {
    return 0;
  }
  const auto skip = static_cast<std::size_t>(offset - held_offset);
  const std::size_t count = std::min(room, held.size() - skip);
  std::memcpy(to, held.data() + skip, count);
  return count;
}

}  // namespace

ResponseBody::~ResponseBody() {
  if (ticket_.has_value()) {
    waits_.Forget(*ticket_);
  }
}

ssize_t ResponseBody::Fill(std::uint8_t* to, std::size_t room) {
  const http::Piece& piece = body_.pieces[piece_];
  if (piece.text.empty()) {
    return FillFromFile(piece, to, room);
  }
  const std::size_t count = std::min(room, piece.text.size() - static_cast<std::size_t>(done_));
  std::memcpy(to, piece.text.data() + done_, count);
  Advance(piece, count);
  return static_cast<ssize_t>(count);
}

ssize_t ResponseBody::FillFromFile(const http::Piece& piece, std::uint8_t* to, std::size_t room) {
  if (broken_) {
    return kBroken;
  }
  if (ticket_.has_value()) {
    return kWait;
  }
  const std::int64_t offset = piece.offset + done_;
  room = std::min(room, static_cast<std::size_t>(piece.length - done_));
  std::size_t count = CopyHeld(body_.file_start, 0, offset, to, room);
  if (count == 0) {
    count = CopyHeld(chunk_, chunk_offset_, offset, to, room);
  }
  if (count == 0) {
    const ssize_t n = body_.file->ReadCached(to, room, offset);
    if (n < 0) {
      return kWait;
    }
    if (n == 0) {
      return kBroken;
    }
    counters_.Add(WorkerCounter::kInlineReadsTotal);
    count = static_cast<std::size_t>(n);
  }
  Advance(piece, count);
  return static_cast<ssize_t>(count);
}

bool ResponseBody::NextIsPiped() const {
  const http::Piece& piece = body_.pieces[piece_];
  if (piped_ > 0) {
    return true;
  }
  const std::int64_t offset = piece.offset + done_;
  return piece.text.empty() && !no_pipe_ && piece.length - done_ >= kPipedBytesMin &&
         !Holds(body_.file_start, 0, offset) && !Holds(chunk_, chunk_offset_, offset);
}

ssize_t ResponseBody::TakePiped(std::size_t room) {
  if (broken_) {
    return kBroken;
  }
  if (piped_ == 0) {
    return kWait;
  }
  const std::size_t count = std::min(room, piped_);
  piped_ -= count;
  Advance(body_.pieces[piece_], count);
  return static_cast<ssize_t>(count);
}

void ResponseBody::Advance(const http::Piece& piece, std::size_t count) {
  done_ += static_cast<std::int64_t>(count);
  const std::int64_t length =
      piece.text.empty() ? piece.length : static_cast<std::int64_t>(piece.text.size());
  if (done_ >= length) {
    ++piece_;
    done_ = 0;
  }
}

void ResponseBody::Await(std::function<void()> ready) {
  if (ticket_.has_value()) {
    return;
  }
  counters_.Add(WorkerCounter::kThreadReadsTotal);
  if (NextIsPiped()) {
    if (pipe_ == nullptr) {
      pipe_ = store::FilePipe::Open();
      no_pipe_ = pipe_ == nullptr;
    }
    if (pipe_ != nullptr) {
      AwaitPipe(std::move(ready));
      return;
    }
  }
  AwaitChunk(std::move(ready));
}

void ResponseBody::AwaitChunk(std::function<void()> ready) {
  const http::Piece& piece = body_.pieces[piece_];
  const std::int64_t offset = piece.offset + done_;
  const auto bytes = static_cast<std::size_t>(std::min(kChunkBytes, piece.length - done_));
  chunk_.clear();
  auto job = std::make_shared<store::ReadJob>(body_.file, offset, bytes);
  ticket_ = waits_.StartRead(body_.file->threads(), job,
                             [this, job, offset, ready = std::move(ready)](bool finished) {
                               ticket_.reset();
                               if (finished) {
                                 chunk_ = job->Take();
                                 chunk_offset_ = offset;
                               }
                               broken_ = chunk_.empty();
                               ready();
                             });
}

void ResponseBody::AwaitPipe(std::function<void()> ready) {
  const http::Piece& piece = body_.pieces[piece_];
  const auto bytes =
      std::min(store::FilePipe::kBytes, static_cast<std::size_t>(piece.length - done_));
  auto job = std::make_shared<store::FillPipeJob>(body_.file, pipe_, piece.offset + done_, bytes);
  ticket_ = waits_.StartRead(body_.file->threads(), job,
                             [this, job, ready = std::move(ready)](bool finished) {
                               ticket_.reset();
                               piped_ = finished ? job->filled() : 0;
                               no_pipe_ = finished && job->unsupported();
                               broken_ = piped_ == 0 && !no_pipe_;
                               ready();
                             });
}

}  // namespace croft::node::worker::http2
