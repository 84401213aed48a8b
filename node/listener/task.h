// A lazy coroutine of one loop: it runs when awaited or started, and resumes who awaited it. No
// synchronisation, no allocation beyond its frame, and frames are recycled per thread.
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <utility>

#include "node/listener/frame_pool.h"

namespace croft::node::listener {

namespace task_detail {

struct PromiseBase {
  std::coroutine_handle<> continuation = std::noop_coroutine();

  static void* operator new(std::size_t size) { return FramePool::Allocate(size); }
  static void operator delete(void* frame, std::size_t size) noexcept {
    FramePool::Free(frame, size);
  }

  std::suspend_always initial_suspend() noexcept { return {}; }
  struct Final {
    bool await_ready() noexcept { return false; }
    template <typename Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
      return self.promise().continuation;
    }
    void await_resume() noexcept {}
  };
  Final final_suspend() noexcept { return {}; }
  // Nothing of ours throws; what a library throws here is out of memory.
  [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
};

template <typename T>
struct Promise : PromiseBase {
  T value{};
  void return_value(T result) { value = std::move(result); }
  T Take() { return std::move(value); }
};

template <>
struct Promise<void> : PromiseBase {
  void return_void() noexcept {}
  void Take() noexcept {}
};

}  // namespace task_detail

template <typename T = void>
class [[nodiscard]] Task {
 public:
  struct promise_type : task_detail::Promise<T> {
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
  };

  Task() noexcept = default;
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      Destroy();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() { Destroy(); }

  // Runs until the first suspension. For the outermost task; its owner asks Done() after each
  // resumption.
  void Start() { handle_.resume(); }
  bool Done() const noexcept { return !handle_ || handle_.done(); }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
    handle_.promise().continuation = awaiting;
    return handle_;
  }
  T await_resume() { return handle_.promise().Take(); }

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}
  void Destroy() noexcept {
    if (handle_) {
      handle_.destroy();
    }
  }
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace croft::node::listener
