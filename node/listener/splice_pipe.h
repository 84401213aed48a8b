// A kernel pipe that carries a large response's bytes from a worker's socket to a visitor's without
// copying them. Empty whenever the loop turns. One loop only.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "proto/base/unique_fd.h"

namespace croft::node::listener {

class SplicePipe {
 public:
  // Without descriptors or pages to be had it is not usable, and bytes are copied.
  SplicePipe();

  bool usable() const { return static_cast<bool>(read_end_); }
  // Moves up to `bytes` that the socket has into the empty pipe; 0 at its end, -1 with errno.
  ssize_t FillFrom(int socket, std::size_t bytes);
  // Moves up to `bytes` to a non-blocking socket; -1 with errno.
  ssize_t MoveTo(int socket, std::size_t bytes);
  // Reads `bytes` that are in the pipe, appending them.
  void ReadInto(std::string& to, std::size_t bytes);
  std::size_t size() const { return size_; }

 private:
  UniqueFd read_end_;
  UniqueFd write_end_;
  std::size_t size_ = 0;
};

}  // namespace croft::node::listener
