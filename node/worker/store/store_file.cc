#include "node/worker/store/store_file.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace croft::node::worker::store {
namespace {

// Closing may flush, and so hang, on a network file system.
class CloseJob final : public Job {
 public:
  explicit CloseJob(UniqueFd fd) : fd_(std::move(fd)) {}
  void Run() noexcept override { fd_.reset(); }

 private:
  UniqueFd fd_;
};

}  // namespace

StoreFile::~StoreFile() {
  if (fd_ && !inline_io_) {
    threads_->Submit(std::make_shared<CloseJob>(std::move(fd_)), StoreThreads::Kind::kFollowUp);
  }
}

ssize_t StoreFile::ReadCached(void* to, std::size_t bytes, std::int64_t offset) const {
  if (!inline_io_) {
    return -1;
  }
  const iovec part{.iov_base = to, .iov_len = bytes};
  const ssize_t n = ::preadv2(fd_.get(), &part, 1, offset, RWF_NOWAIT);
  CountRead(n);
  return n;
}

ssize_t StoreFile::ReadBlocking(void* to, std::size_t bytes, std::int64_t offset) const {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t n = ::pread(fd_.get(), static_cast<char*>(to) + done, bytes - done,
                              offset + static_cast<std::int64_t>(done));
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      if (done == 0) {
        return -1;
      }
      break;
    }
    if (n == 0) {
      break;
    }
    done += static_cast<std::size_t>(n);
  }
  CountRead(static_cast<ssize_t>(done));
  return static_cast<ssize_t>(done);
}

ssize_t StoreFile::SpliceBlocking(int pipe, std::size_t bytes, std::int64_t offset) const {
  off64_t from = offset;
  const ssize_t n =
      ::splice(fd_.get(), &from, pipe, nullptr, bytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  CountRead(n);
  return n;
}

void StoreFile::CountRead(ssize_t bytes) const {
  if (bytes > 0) {
    counters_.Add(counters::StoreCounter::kReadsTotal);
    counters_.Add(counters::StoreCounter::kBytesReadTotal, bytes);
  }
}

void StoreFile::ExpectSequentialReads() const {
  ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
}

void ReadJob::Run() noexcept {
  if (offset_ == 0) {
    file_->ExpectSequentialReads();
  }
  bytes_.resize(bytes_wanted_);
  const ssize_t n = file_->ReadBlocking(bytes_.data(), bytes_.size(), offset_);
  bytes_.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
}

}  // namespace croft::node::worker::store
