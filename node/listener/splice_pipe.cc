#include "node/listener/splice_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "proto/base/check.h"

namespace croft::node::listener {
namespace {

// A stream's window and more: pages that are partly filled take a whole place each.
constexpr int kPipeBytes = 512 * 1024;

}  // namespace

SplicePipe::SplicePipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    return;
  }
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  if (::fcntl(write_end.get(), F_SETPIPE_SZ, kPipeBytes) < 0) {
    return;
  }
  read_end_ = std::move(read_end);
  write_end_ = std::move(write_end);
}

ssize_t SplicePipe::FillFrom(int socket, std::size_t bytes) {
  const ssize_t n = ::splice(socket, nullptr, write_end_.get(), nullptr, bytes,
                             SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  if (n > 0) {
    size_ += static_cast<std::size_t>(n);
  }
  return n;
}

ssize_t SplicePipe::MoveTo(int socket, std::size_t bytes) {
  const ssize_t n =
      ::splice(read_end_.get(), nullptr, socket, nullptr, bytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  if (n > 0) {
    size_ -= static_cast<std::size_t>(n);
  }
  return n;
}

void SplicePipe::ReadInto(std::string& to, std::size_t bytes) {
  const std::size_t before = to.size();
  to.resize(before + bytes);
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t n = ::read(read_end_.get(), to.data() + before + done, bytes - done);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    Check(n > 0, "the pipe holds what was put into it");
    done += static_cast<std::size_t>(n);
  }
  size_ -= bytes;
}

}  // namespace croft::node::listener
