// Memory of coroutine frames, recycled per thread by size.
#pragma once

#include <cstddef>

namespace croft::node::listener {

class FramePool {
 public:
  static void* Allocate(std::size_t size);
  static void Free(void* frame, std::size_t size) noexcept;
};

}  // namespace croft::node::listener
