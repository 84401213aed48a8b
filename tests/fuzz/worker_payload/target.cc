// A response's large payloads as they go by the pipe: whatever frames a worker sends around them,
// and however little the visitor takes, nothing but payload is piped, the pipe is empty afterwards
// and what waits stays within the window. The input is the worker's bytes without the piped ones,
// which are zeros; its first two bytes say how many the visitor takes at a time and how many come
// at a time, in KiB.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "proto/base/check.h"
#include "tests/fuzz/one_exchange.h"

namespace {

using namespace croft::node::listener;
using namespace std::string_view_literals;

// SETTINGS, its acknowledgement, and "200" with a content-length of 100000.
constexpr std::string_view kPrelude =
    "\0\0\0\4\0\0\0\0\0"
    "\0\0\0\4\1\0\0\0\0"
    "\0\0\x0a\1\4\0\0\0\1\x88\x0f\x0d\6"
    "100000"sv;

class Visitor final : public BodySink {
 public:
  explicit Visitor(std::size_t appetite) : appetite_(appetite) {}
  std::size_t TakeBody(std::string_view bytes) override { return Count(bytes.size()); }
  bool TakesBody() const override { return true; }
  std::size_t TakePiped(SplicePipe& pipe, std::size_t bytes) override {
    std::string taken;
    pipe.ReadInto(taken, std::min(bytes, appetite_));
    return Count(bytes);
  }
  std::size_t taken() const { return taken_; }

 private:
  std::size_t Count(std::size_t bytes) {
    taken_ += std::min(bytes, appetite_);
    return std::min(bytes, appetite_);
  }
  const std::size_t appetite_;
  std::size_t taken_ = 0;
};

// Where the worker's bytes are between frames.
class Frames {
 public:
  void Pass(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t count = std::min(bytes.size(), left_ > 0 ? left_ : 9 - header_.size());
      if (left_ > 0) {
        left_ -= count;
      } else if (header_.append(bytes.substr(0, count)); header_.size() == 9) {
        const auto byte = [&](std::size_t at) { return std::size_t{std::uint8_t(header_[at])}; };
        left_ = byte(0) << 16 | byte(1) << 8 | byte(2);
        header_.clear();
      }
      bytes.remove_prefix(count);
    }
  }
  // Of the payload of the frame that has begun.
  std::size_t left() const { return left_; }

 private:
  std::string header_;
  std::size_t left_ = 0;
};

// Puts up to `bytes` into the pipe, the way the worker's socket does.
std::string_view Fill(SplicePipe& pipe, std::size_t bytes) {
  static const std::array<int, 2> ends = [] {
    std::array<int, 2> made{};
    const int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    croft::Check(::socketpair(AF_UNIX, type, 0, made.data()) == 0, "a pair of sockets");
    return made;
  }();
  static const std::array<char, 64 * 1024> zeros{};
  const ssize_t sent = ::send(ends[0], zeros.data(), std::min(bytes, zeros.size()), 0);
  croft::Check(sent > 0, "an empty socket has room");
  croft::Check(pipe.FillFrom(ends[1], static_cast<std::size_t>(sent)) == sent, "a pipe has room");
  return {zeros.data(), static_cast<std::size_t>(sent)};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return 0;
  }
  static SplicePipe pipe;
  OneExchange one;
  WorkerSession& session = one.session;
  Exchange& exchange = one.exchange;
  croft::Check(session.Feed(kPrelude).ok() && exchange.head_done, "the prelude is a response");
  Visitor visitor(std::size_t{data[0]} * 1024);
  exchange.sink = &visitor;
  const std::size_t piece = std::size_t{data[1]} * 1024 + 1;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  Frames frames;
  bool open = true;
  while (open && !bytes.empty()) {
    if (const std::size_t payload = session.NextIsPayload(); payload > 0) {
      croft::Check(payload <= frames.left(), "nothing but payload is piped");
      frames.Pass(Fill(pipe, std::min(payload, piece)));
      open = session.FeedPiped(pipe).ok();
      croft::Check(pipe.size() == 0, "an empty pipe");
    } else {
      const std::size_t count = std::min(bytes.size(), session.AfterPayload() ? 9 : piece);
      session.ForgetPayload();
      frames.Pass(bytes.substr(0, count));
      open = session.Feed(bytes.substr(0, count)).ok();
      bytes.remove_prefix(count);
    }
    croft::Check(exchange.body.size() <= static_cast<std::size_t>(kStreamWindowBytes), "a window");
    croft::Check(visitor.taken() + exchange.body.size() <= 100'000, "the length promised");
  }
  static_cast<void>(open && session.Collect());
  return 0;
}
