// Bytes on their way to a socket: appended or filled in place at the end, taken from the front. One
// thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace croft::node::worker::http2 {

class OutputBuffer {
 public:
  bool empty() const { return begin_ == end_; }
  std::size_t size() const { return end_ - begin_; }
  std::span<const std::uint8_t> bytes() const { return {storage_.data() + begin_, size()}; }

  // Room for `count` bytes at the end, valid until the next call but Commit.
  std::uint8_t* Reserve(std::size_t count) {
    if (empty()) {
      begin_ = end_ = 0;
    }
    if (storage_.size() - end_ < count) {
      storage_.resize(end_ + count);
    }
    return storage_.data() + end_;
  }
  // The first `count` bytes of the reserved room are now part of the buffer.
  void Commit(std::size_t count) { end_ += count; }

  void Append(const std::uint8_t* bytes, std::size_t count) {
    std::memcpy(Reserve(count), bytes, count);
    Commit(count);
  }
  void TakeFront(std::size_t count) { begin_ += count; }

 private:
  std::vector<std::uint8_t> storage_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace croft::node::worker::http2
