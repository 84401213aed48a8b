// A real croft-worker with a store of its own. The test is its agent, through the control channel,
// and its listener, through Http2Client. As root the worker runs as another user, so that
// permissions count.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "croft/node/v1/channel.pb.h"
#include "croft/node/v1/target.pb.h"
#include "node/counters/counter_memory.h"
#include "node/link/channel.h"
#include "node/link/target_codec.h"
#include "tests/integration/worker/http2_client.h"

namespace croft::node::worker {

inline constexpr uid_t kWorkerUid = 58'190;
inline constexpr std::uint64_t kProcessId = 77;
inline constexpr std::int64_t kStoreUid = 9;

// Polls until `holds`; false after `time`.
bool Eventually(const std::function<bool()>& holds,
                std::chrono::milliseconds time = std::chrono::seconds(10));

class WorkerProcess {
 public:
  struct Options {
    std::int64_t max_concurrent_requests = 200;
    bool separate_identities = false;
    std::uint32_t listener_uid = 0;
  };

  WorkerProcess() : WorkerProcess(Options()) {}
  explicit WorkerProcess(Options options);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();

  // Store settings as the listener would send them: the documented defaults.
  static v1::TargetSettings DefaultSettings(const std::string& store_path);
  v1::TargetSettings settings() const { return DefaultSettings(store().string()); }

  // Makes parents too. The file is old enough to have strong validators.
  std::filesystem::path WriteFile(const std::string& name, const std::string& text);

  // A request for `path` below `root`; with `extra` headers. Sends the settings every time.
  ClientResponse Get(const std::string& path, const Headers& extra = {});
  ClientResponse Ask(const std::string& method, const std::string& path, const Headers& extra = {});
  static Headers Request(const std::string& method, const std::string& path,
                         const v1::TargetSettings& settings, const link::Target& target);

  void Send(const v1::AgentToWorker& message);
  std::optional<v1::WorkerToAgent> Receive();
  // Exit status as of waitpid, within `time`.
  std::optional<int> AwaitExit(std::chrono::milliseconds time = std::chrono::seconds(15));
  std::int64_t WorkerCounterValue(counters::WorkerCounter counter) const;
  std::int64_t StoreCounterValue(counters::StoreCounter counter) const;
  // VmRSS + its peak, in KiB.
  std::int64_t PeakMemoryKib() const;

  const std::filesystem::path& directory() const { return directory_; }
  std::filesystem::path store() const { return directory_ / "store"; }
  std::string socket_path() const { return (directory_ / "worker.sock").string(); }
  Http2Client& client() { return *client_; }
  pid_t pid() const { return pid_; }

 private:
  std::filesystem::path directory_;
  std::unique_ptr<link::Channel> channel_;
  std::unique_ptr<counters::CounterMemory> memory_;
  std::unique_ptr<Http2Client> client_;
  pid_t pid_ = 0;
};

}  // namespace croft::node::worker
