// A worker that behaves as the request's path says: well, slowly, or as no worker should. HTTP/2 on
// a unix socket, one thread.
//   /bytes/N     N bytes with a length        /stream/N   N bytes without     /echo     the
//   request's body /headers     the request's header fields  /never      no answer           /crash
//   ends every connection /crash-mid   begins, then ends them       /garbage    no HTTP/2
//   /huge-header  /status-99  /refuse
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "proto/base/unique_fd.h"

namespace croft::node::listener::test {

class ScriptedWorker {
 public:
  explicit ScriptedWorker(std::string socket_path);
  ~ScriptedWorker();

  const std::string& path() const { return path_; }
  // Streams that were begun.
  int requests() const { return requests_; }
  int open_streams() const { return open_streams_; }
  int most_streams() const { return most_streams_; }
  int connections() const { return connections_; }
  std::int64_t body_bytes_given() const { return body_bytes_given_; }
  // Answers what /never left waiting.
  void Release();

 private:
  friend struct ScriptedConnection;
  void Run();

  const std::string path_;
  UniqueFd listening_;
  UniqueFd wake_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> release_{false};
  std::atomic<bool> crashed_{false};
  std::atomic<int> requests_{0};
  std::atomic<int> open_streams_{0};
  std::atomic<int> most_streams_{0};
  std::atomic<int> connections_{0};
  std::atomic<std::int64_t> body_bytes_given_{0};
  std::thread thread_;
};

}  // namespace croft::node::listener::test
