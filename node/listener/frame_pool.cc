#include "node/listener/frame_pool.h"

#include <array>
#include <memory>

namespace croft::node::listener {
namespace {

constexpr std::size_t kStep = 128;
constexpr std::size_t kClasses = 16;
constexpr std::size_t kKeptMax = 256;  // of each size

struct FreeFrame {
  FreeFrame* next;
};

struct FreeLists {
  std::array<FreeFrame*, kClasses> first{};
  std::array<std::size_t, kClasses> count{};

  ~FreeLists() {
    for (std::size_t i = 0; i < kClasses; ++i) {
      while (FreeFrame* frame = first[i]) {
        first[i] = frame->next;
        std::allocator<std::byte>().deallocate(reinterpret_cast<std::byte*>(frame),
                                               (i + 1) * kStep);
      }
    }
  }
};

thread_local FreeLists free_lists;

}  // namespace

void* FramePool::Allocate(std::size_t size) {
  const std::size_t index = (size - 1) / kStep;
  if (index >= kClasses) {
    return std::allocator<std::byte>().allocate(size);
  }
  if (FreeFrame* frame = free_lists.first[index]) {
    free_lists.first[index] = frame->next;
    --free_lists.count[index];
    return frame;
  }
  return std::allocator<std::byte>().allocate((index + 1) * kStep);
}

void FramePool::Free(void* frame, std::size_t size) noexcept {
  const std::size_t index = (size - 1) / kStep;
  if (index >= kClasses) {
    std::allocator<std::byte>().deallocate(static_cast<std::byte*>(frame), size);
    return;
  }
  if (free_lists.count[index] >= kKeptMax) {
    std::allocator<std::byte>().deallocate(static_cast<std::byte*>(frame), (index + 1) * kStep);
    return;
  }
  auto* free_frame = static_cast<FreeFrame*>(frame);
  free_frame->next = free_lists.first[index];
  free_lists.first[index] = free_frame;
  ++free_lists.count[index];
}

}  // namespace croft::node::listener
