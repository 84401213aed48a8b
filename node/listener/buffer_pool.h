// Strings with capacity, passed on from one use to the next. One loop only.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace croft::node::listener {

class BufferPool {
 public:
  // Empty, usually with capacity.
  std::string Take() {
    if (spare_.empty()) {
      return {};
    }
    std::string buffer = std::move(spare_.back());
    spare_.pop_back();
    return buffer;
  }
  void Give(std::string&& buffer) {
    if (spare_.size() < kSpareMax && buffer.capacity() >= kWorthKeeping) {
      buffer.clear();
      spare_.push_back(std::move(buffer));
    } else {
      buffer = std::string();
    }
  }

 private:
  static constexpr std::size_t kSpareMax = 64;
  static constexpr std::size_t kWorthKeeping = 1024;
  std::vector<std::string> spare_;
};

}  // namespace croft::node::listener
