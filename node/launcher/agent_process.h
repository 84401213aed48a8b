// The agent: started, and started again when it ends, with a growing pause if it ends at once.
// Listener and workers stay untouched by its end.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "croft/node/v1/launcher.pb.h"
#include "node/launcher/data_directory.h"
#include "node/launcher/identities.h"
#include "node/launcher/programs.h"
#include "node/link/channel.h"
#include "node/link/send_queue.h"
#include "proto/base/clock.h"
#include "proto/base/retry.h"

namespace croft::node::launcher {

class AgentProcess {
 public:
  AgentProcess(const Programs& programs, const Identities& identities,
               const DataDirectory& directory, const Clock& clock, std::string metrics_listen)
      : programs_(programs),
        identities_(identities),
        directory_(directory),
        clock_(clock),
        metrics_listen_(std::move(metrics_listen)) {}

  // Starts it unless it runs or its pause is not over.
  void StartIfDue();
  bool running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  // Until the next start is due; nullopt while it runs.
  std::optional<std::chrono::milliseconds> UntilDue() const;
  // Null when no agent is there to talk to.
  link::Channel* channel() const { return channel_.get(); }
  std::size_t waiting() const { return queue_ == nullptr ? 0 : queue_->size(); }

  // Lost if no agent is there: a new one asks for the inventory.
  void Send(const v1::LauncherMessage& message, const std::vector<int>& descriptors = {});
  void Flush();
  void Signal(int signal) const;
  // It broke the channel or closed its end: it is killed, and started again.
  void Drop(const absl::Status& why);
  void OnEnded(int wait_status);

 private:
  absl::Status Start();

  // Constant after construction.
  const Programs& programs_;
  const Identities& identities_;
  const DataDirectory& directory_;
  const Clock& clock_;
  const std::string metrics_listen_;  // "": it gives no metrics

  pid_t pid_ = 0;
  std::unique_ptr<link::Channel> channel_;
  std::unique_ptr<link::SendQueue<v1::LauncherMessage>> queue_;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point due_;
  Backoff backoff_{{std::chrono::milliseconds(100), std::chrono::seconds(5)}};
};

// "exit 1", "signal 9 (Killed)".
std::string DescribeEnd(int wait_status);

}  // namespace croft::node::launcher
