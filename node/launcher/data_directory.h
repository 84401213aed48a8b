// The node's directory D as the launcher leaves it to the others:
//   D/            root 0755          D/identity/  agent 0700       D/replica/  agent 0750
//   D/log/        listener 0750      D/run/       root 0755        D/run/w/    root, listener's
//   group, 0750: the workers' sockets
// One launcher at a time has it.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

#include "node/launcher/identities.h"
#include "proto/base/unique_fd.h"

namespace croft::node::launcher {

class DataDirectory {
 public:
  // Makes what is missing, gives every part its owner, and removes sockets that a killed launcher
  // left. unavailable if another launcher has it; invalid_argument if the path is too long for the
  // sockets in it.
  static absl::StatusOr<DataDirectory> Prepare(const std::string& path,
                                               const Identities& identities);

  const std::string& path() const { return path_; }
  std::string SocketPath(std::uint64_t process_id) const;
  // A listening unix socket that only the listener (and its group) reaches.
  absl::StatusOr<UniqueFd> ListenForWorker(std::uint64_t process_id) const;
  void RemoveSocket(std::uint64_t process_id) const;

 private:
  DataDirectory(std::string path, Identity listener, UniqueFd lock)
      : path_(std::move(path)), listener_(std::move(listener)), lock_(std::move(lock)) {}

  // Constant after construction.
  std::string path_;
  Identity listener_;
  UniqueFd lock_;
};

}  // namespace croft::node::launcher
