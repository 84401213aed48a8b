#include "node/worker/store/file_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace croft::node::worker::store {

std::shared_ptr<FilePipe> FilePipe::Open() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    return nullptr;
  }
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  if (::fcntl(write_end.get(), F_SETPIPE_SZ, static_cast<int>(kBytes)) < 0) {
    return nullptr;
  }
  return std::make_shared<FilePipe>(std::move(read_end), std::move(write_end));
}

ssize_t FilePipe::MoveTo(int socket, std::size_t bytes) const {
  return ::splice(read_end_.get(), nullptr, socket, nullptr, bytes,
                  SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
}

void FillPipeJob::Run() noexcept {
  if (offset_ == 0) {
    file_->ExpectSequentialReads();
  }
  while (filled_ < bytes_wanted_) {
    const ssize_t n = file_->SpliceBlocking(pipe_->write_end(), bytes_wanted_ - filled_,
                                            offset_ + static_cast<std::int64_t>(filled_));
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      unsupported_ = n < 0 && errno == EINVAL;
      return;  // the pipe is full, the file ended, or it cannot be read
    }
    filled_ += static_cast<std::size_t>(n);
  }
}

}  // namespace croft::node::worker::store
