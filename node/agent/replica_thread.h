// The thread that writes the replica: owns its generations, the writer and the feed's applier.
// Everything it is asked for is queued and answered by callback on the supervision loop. What
// cannot be written now leaves the replica as it was; the node serves on.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "node/agent/feed_applier.h"
#include "node/replica/generations.h"
#include "node/replica/writer.h"

namespace croft::node::agent {

class ReplicaThread {
 public:
  using StreamNumber = std::uint64_t;

  // All on the supervision loop.
  struct Callbacks {
    // A generation is in service: at the start, and after SetAside.
    std::function<void(const std::string& path, const v1::Position& position)> on_opened;
    std::function<void(StreamNumber, v1::Hello)> on_hello;
    std::function<void(StreamNumber, ApplyOutcome)> on_applied;
    // The replica cannot be opened; it is tried again.
    std::function<void(const std::string& problem)> on_problem;
  };
  struct Options {
    std::string directory;
    std::string version;
    std::string own_directory;  // see ApplierOptions
    // The older generation is renewed after this long without a change, at most that often.
    std::chrono::milliseconds refresh_after{15'000};
    std::chrono::milliseconds refresh_interval{600'000};
  };
  static constexpr std::chrono::milliseconds kReopenInterval{1'000};

  ReplicaThread(boost::asio::io_context& loop, Options options, Callbacks callbacks);
  // Finishes what is queued before, closes the replica.
  ~ReplicaThread();

  // ---- any thread
  void Open();
  void MakeHello(StreamNumber stream);
  void Apply(StreamNumber stream, v1::ControlMessage message);
  void OnStreamLost();
  // The current generation is damaged. REQUIRES: this process's readers of it are gone.
  void SetAside(std::string reason);

 private:
  using Task = std::function<void()>;
  void Queue(Task task);
  void Run(const std::stop_token& stop);
  std::optional<Task> WaitForTask(const std::stop_token& stop);

  // ---- its own thread
  void OpenNow();
  absl::Status OpenWriter();
  void SetAsideNow(const std::string& reason);
  void ReportOpened();
  void ApplyNow(StreamNumber stream, const v1::ControlMessage& message);
  void MaybeRefresh();
  std::chrono::steady_clock::time_point NextRefresh() const;

  // Constant after construction.
  boost::asio::io_context& loop_;
  const Options options_;
  const Callbacks callbacks_;

  // Protected by mutex_. The supervision loop bounds it: one message of a stream at a time.
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<Task> tasks_;

  // Its own thread only.
  std::optional<replica::Generations> generations_;
  std::unique_ptr<replica::Writer> writer_;
  std::unique_ptr<FeedApplier> applier_;
  bool changed_since_refresh_ = false;
  std::chrono::steady_clock::time_point last_change_;
  std::chrono::steady_clock::time_point not_refreshed_before_;

  std::jthread thread_;
};

}  // namespace croft::node::agent
