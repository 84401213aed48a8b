// A file's bytes on their way to a socket without being copied: a kernel pipe that refers to the
// pages of the page cache. Filled on the store's threads, where the file's disk may block, and
// drained by a loop, which then cannot. Filling and draining take turns.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "node/worker/store/store_file.h"
#include "node/worker/store/store_threads.h"
#include "proto/base/unique_fd.h"

namespace croft::node::worker::store {

class FilePipe {
 public:
  static constexpr std::size_t kBytes = 1024 * 1024;

  // Null when the kernel gives this user no more pipes of that size.
  static std::shared_ptr<FilePipe> Open();
  FilePipe(UniqueFd read_end, UniqueFd write_end)
      : read_end_(std::move(read_end)), write_end_(std::move(write_end)) {}

  // Moves up to `bytes` to a non-blocking socket; -1 with errno.
  ssize_t MoveTo(int socket, std::size_t bytes) const;
  int write_end() const { return write_end_.get(); }

 private:
  const UniqueFd read_end_;
  const UniqueFd write_end_;
};

// Fills an empty pipe.
class FillPipeJob final : public Job {
 public:
  FillPipeJob(std::shared_ptr<StoreFile> file, std::shared_ptr<FilePipe> pipe, std::int64_t offset,
              std::size_t bytes)
      : file_(std::move(file)), pipe_(std::move(pipe)), offset_(offset), bytes_wanted_(bytes) {}
  void Run() noexcept override;

  // After Run: bytes that are in the pipe; fewer than asked for when it is full or the file ends.
  std::size_t filled() const { return filled_; }
  // The file's file system has no such way: the bytes have to be read.
  bool unsupported() const { return unsupported_; }

 private:
  const std::shared_ptr<StoreFile> file_;
  const std::shared_ptr<FilePipe> pipe_;
  const std::int64_t offset_;
  const std::size_t bytes_wanted_;
  std::size_t filled_ = 0;
  bool unsupported_ = false;
};

}  // namespace croft::node::worker::store
