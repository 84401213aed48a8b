// One file store as a worker uses it: its directory, its threads, its counters. Loops open through
// `co_await store->Open(...)`: answered inline when the store is on a local file system and the
// kernel knows everything already, otherwise on the store's threads. Thread-safe.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "node/counters/counter_memory.h"
#include "node/worker/store/content_path.h"
#include "node/worker/store/store_file.h"
#include "node/worker/store/store_threads.h"
#include "node/worker/store/store_waits.h"
#include "proto/base/clock.h"

namespace croft::node::worker::store {

struct OpenRequest {
  ContentPath path;
  // Only whether the path is a directory: the answer has no file.
  bool directory_only = false;
  // If a thread opens it, it reads so many of the first bytes too.
  std::size_t read_ahead = 0;
};

struct OpenAnswer {
  enum class Outcome {
    kOpened,        // `file` and `facts` (directory_only: neither)
    kFailed,        // `error`, an errno
    kBusy,          // the store does not answer
    kStoreMissing,  // its own path cannot be opened
  };
  Outcome outcome = Outcome::kFailed;
  int error = 0;
  std::shared_ptr<StoreFile> file;
  struct stat facts {};
  std::string start;  // the file's first bytes, if they were read
};

class OpenAwaiter;

class Store : public std::enable_shared_from_this<Store> {
 public:
  Store(std::int64_t uid, std::string path, const Clock& clock, counters::Row counters);

  // The loop's `waits` brings the answer back to the coroutine's loop.
  OpenAwaiter Open(OpenRequest request, StoreWaits& waits);

  const std::shared_ptr<StoreThreads>& threads() const { return threads_; }
  const counters::Row& counters() const { return counters_; }

 private:
  friend class OpenAwaiter;
  class OpenJob;
  class RefreshJob;
  using Time = std::chrono::steady_clock::time_point;

  // The store's directory as it was at `opened`.
  struct Directory {
    UniqueFd fd;
    int error = 0;
    bool local = false;
    Time opened;
  };

  // nullopt: it takes a thread.
  std::optional<OpenAnswer> OpenInline(const OpenRequest& request);
  OpenAnswer OpenBlocking(const OpenRequest& request);
  OpenAnswer MakeAnswer(UniqueFd fd, int error, bool inline_io, const OpenRequest& request);
  std::shared_ptr<const Directory> CurrentDirectory();
  // Blocks; opens the directory again if it is older than `age_max`.
  std::shared_ptr<const Directory> FreshDirectory(std::chrono::milliseconds age_max);
  void RefreshInBackground();

  // Constant after construction.
  const std::int64_t uid_;
  const std::string path_;
  const Clock& clock_;
  const counters::Row counters_;
  const std::shared_ptr<StoreThreads> threads_;

  std::atomic<bool> refreshing_{false};
  std::mutex mutex_;
  std::shared_ptr<const Directory> directory_;  // protected by mutex_
};

class OpenAwaiter {
 public:
  OpenAwaiter(Store& store, StoreWaits& waits, OpenRequest request)
      : store_(store), waits_(waits), request_(std::move(request)) {}
  OpenAwaiter(const OpenAwaiter&) = delete;
  OpenAwaiter& operator=(const OpenAwaiter&) = delete;
  ~OpenAwaiter();

  bool await_ready();
  bool await_suspend(std::coroutine_handle<> caller);
  OpenAnswer await_resume();

 private:
  Store& store_;
  StoreWaits& waits_;
  OpenRequest request_;
  std::optional<OpenAnswer> answer_;
  std::shared_ptr<Store::OpenJob> job_;
  std::optional<StoreWaits::Ticket> ticket_;
};

}  // namespace croft::node::worker::store
