// The threads on which one file store's blocking work runs, so that a store that hangs takes only
// these. Started when needed, they end after idling. A thread that hangs is never waited for, not
// even at exit: the process ends by _exit. Thread-safe.
//
// A store that had work for `stall` and finished none of it is *hung*: requests are refused at
// once, but for one now and then that is let through as a probe. Whatever finishes, a probe or a
// thread that hung, makes it healthy again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "node/counters/counter_memory.h"
#include "proto/base/clock.h"

namespace croft::node::worker::store {

class Job {
 public:
  virtual ~Job() = default;
  // On one of the store's threads; may block for ever.
  virtual void Run() noexcept = 0;
};

class StoreThreads : public std::enable_shared_from_this<StoreThreads> {
 public:
  struct Limits {
    std::size_t threads_max = 16;        // not counting those that hang
    std::size_t threads_total_max = 48;  // with them
    std::size_t queue_max = 1024;        // requests that wait for a thread
    std::chrono::milliseconds stall{2'000};
    std::chrono::milliseconds probe_interval{1'000};  // doubles with every probe, up to 30 s
    std::chrono::milliseconds idle{30'000};
  };

  enum class Kind {
    kRequest,   // may be refused
    kFollowUp,  // reading or closing what is open: always queued, bounded by the open files
  };

  // `clock` outlives the process's threads.
  StoreThreads(std::string name, Limits limits, const Clock& clock, counters::Row counters);

  // False when refused: the store hangs, or its queue is full.
  bool Submit(std::shared_ptr<Job> job, Kind kind);
  bool IsHung();
  // Local disks are given more time than networks.
  void SetStall(std::chrono::milliseconds stall);

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Slot {
    bool used = false;     // a thread has it
    bool running = false;  // a job, since `since`
    Time since;
  };

  // What is left to do without the lock: a log may block, and who is woken takes it.
  struct News {
    bool job = false;
    bool hangs = false;
    bool answers = false;
    int thread_error = 0;  // of pthread_create
  };

  static void* ThreadMain(void* argument);
  void Serve(std::size_t slot);
  void Tell(const News& news);
  // All with the lock held:
  bool SubmitLocked(std::shared_ptr<Job> job, Kind kind);
  bool UpdateHung(Time now);
  void WakeOrStart(Time now);
  void StartThread();
  std::shared_ptr<Job> TakeJob(std::unique_lock<std::mutex>& lock, std::size_t slot);
  void FinishJob(std::size_t slot);

  // Constant after construction.
  const std::string name_;
  const Limits limits_;
  const Clock& clock_;
  const counters::Row counters_;

  // Protected by mutex_.
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Job>> queue_;
  std::vector<Slot> slots_;
  std::size_t threads_ = 0;
  std::size_t idle_ = 0;
  std::size_t running_ = 0;
  std::chrono::milliseconds stall_;
  bool hung_ = false;
  Time last_progress_;
  Time next_probe_;
  std::chrono::milliseconds probe_interval_;
  News news_;
};

}  // namespace croft::node::worker::store
