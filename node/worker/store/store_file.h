// An open file of a store. Reading and closing it inline is allowed only where that cannot block;
// otherwise both happen on the store's threads. Made on any thread, used by one loop and the
// store's threads.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "node/counters/counter_memory.h"
#include "node/worker/store/store_threads.h"
#include "proto/base/unique_fd.h"

namespace croft::node::worker::store {

class StoreFile {
 public:
  // `counters` is the store's row, where what is read is counted.
  StoreFile(UniqueFd fd, std::shared_ptr<StoreThreads> threads, bool inline_io,
            counters::Row counters)
      : fd_(std::move(fd)),
        threads_(std::move(threads)),
        inline_io_(inline_io),
        counters_(counters) {}
  StoreFile(const StoreFile&) = delete;
  StoreFile& operator=(const StoreFile&) = delete;
  ~StoreFile();

  // What is in the page cache: bytes read, 0 at the end of the file, -1 when only a ReadJob can
  // tell.
  ssize_t ReadCached(void* to, std::size_t bytes, std::int64_t offset) const;
  // Blocks; for the store's threads. Bytes read, fewer only at the end of the file; -1 with errno.
  ssize_t ReadBlocking(void* to, std::size_t bytes, std::int64_t offset) const;
  // Blocks; for the store's threads. Moves bytes into a pipe, as far as there is room in it; -1
  // with errno.
  ssize_t SpliceBlocking(int pipe, std::size_t bytes, std::int64_t offset) const;
  // Doubles the kernel's read-ahead.
  void ExpectSequentialReads() const;

  const std::shared_ptr<StoreThreads>& threads() const { return threads_; }

 private:
  void CountRead(ssize_t bytes) const;

  UniqueFd fd_;
  const std::shared_ptr<StoreThreads> threads_;
  const bool inline_io_;
  const counters::Row counters_;
};

class ReadJob final : public Job {
 public:
  ReadJob(std::shared_ptr<StoreFile> file, std::int64_t offset, std::size_t bytes)
      : file_(std::move(file)), offset_(offset), bytes_wanted_(bytes) {}
  void Run() noexcept override;

  // After Run: what was read; shorter than asked for at the end of the file or after an error.
  std::string Take() { return std::move(bytes_); }

 private:
  const std::shared_ptr<StoreFile> file_;
  const std::int64_t offset_;
  const std::size_t bytes_wanted_;
  std::string bytes_;
};

}  // namespace croft::node::worker::store
