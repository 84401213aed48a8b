// Threads for work that blocks on the store, so that gRPC's own never do. The queue is bounded:
// when it is full a caller is told at once, instead of waiting behind everyone else. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace croft::control::api {

struct ExecutorLimits {
  std::size_t threads = 8;
  std::size_t queued_max = 1024;
};

class DbExecutor {
 public:
  explicit DbExecutor(ExecutorLimits limits = {});
  // Runs what is queued, then ends.
  ~DbExecutor();

  struct Load {
    std::size_t queued = 0, queued_max = 0;
    std::size_t running = 0, threads = 0;
    std::uint64_t refused = 0;  // since the start, because the queue was full
  };
  Load load() const;
  // False, and `work` is not run, when the queue is full.
  [[nodiscard]] bool TryPush(std::function<void()> work);

 private:
  void Run(const std::stop_token& stop);

  const std::size_t queued_max_;

  mutable std::mutex mutex_;  // protects the three below
  std::deque<std::function<void()>> queue_;
  std::size_t running_ = 0;
  std::uint64_t refused_ = 0;
  std::condition_variable_any filled_;

  std::vector<std::jthread> threads_;  // last: they use all above
};

}  // namespace croft::control::api
