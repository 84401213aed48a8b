// A real croft-worker beside the listener under test.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "node/link/channel.h"

namespace croft::node::listener::test {

class RealWorker {
 public:
  // Ready when constructed.
  RealWorker(const std::string& socket_path, std::uint64_t process_id);
  ~RealWorker();
  void Kill();

 private:
  std::unique_ptr<link::Channel> channel_;
  std::string socket_path_;
  int pid_ = -1;
};

}  // namespace croft::node::listener::test
