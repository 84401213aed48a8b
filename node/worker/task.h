// Task<T>: a coroutine that runs on one event loop, started by its owner or by co_await. Destroying
// a Task destroys the suspended coroutine, so whatever it waits for must forget it in its awaiter's
// destructor. Never throws out: an exception inside ends the process.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "proto/base/check.h"

namespace croft::node::worker {

template <typename T>
class Task {
 public:
  struct promise_type {
    std::optional<T> value;
    std::coroutine_handle<> continuation;

    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct FinalAwaiter {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        const std::coroutine_handle<> next = self.promise().continuation;
        return next ? next : std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };
    FinalAwaiter final_suspend() noexcept { return {}; }
    void return_value(T result) { value.emplace(std::move(result)); }
    void unhandled_exception() noexcept { std::terminate(); }
  };

  Task() = default;
  Task(Task&& other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      Reset();
      coroutine_ = std::exchange(other.coroutine_, nullptr);
    }
    return *this;
  }
  ~Task() { Reset(); }

  // Runs until the first wait or the end.
  void Start() { coroutine_.resume(); }
  bool done() const { return coroutine_ && coroutine_.done(); }

  auto operator co_await() noexcept {
    struct Awaiter {
      std::coroutine_handle<promise_type> callee;
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
        callee.promise().continuation = caller;
        return callee;
      }
      T await_resume() {
        Check(callee.promise().value.has_value(), "a finished task has its value");
        return *std::move(callee.promise().value);
      }
    };
    return Awaiter{coroutine_};
  }

 private:
  explicit Task(std::coroutine_handle<promise_type> coroutine) : coroutine_(coroutine) {}
  void Reset() {
    if (coroutine_) {
      coroutine_.destroy();
      coroutine_ = nullptr;
    }
  }

  std::coroutine_handle<promise_type> coroutine_;
};

}  // namespace croft::node::worker
