// The launcher's loop: one thread, which waits for signals and for the agent's requests, and keeps
// all the others alive in between.
#pragma once

#include <absl/status/statusor.h>

#include <memory>

#include "node/launcher/agent_process.h"
#include "node/launcher/data_directory.h"
#include "node/launcher/endpoints.h"
#include "node/launcher/identities.h"
#include "node/launcher/options.h"
#include "node/launcher/processes.h"
#include "node/launcher/programs.h"
#include "node/launcher/requests.h"
#include "node/launcher/shutdown.h"
#include "proto/base/clock.h"
#include "proto/base/unique_fd.h"

namespace croft::node::launcher {

class Launcher {
 public:
  // Prepares the data directory and takes the signals of this process. REQUIRES: it has one thread.
  static absl::StatusOr<std::unique_ptr<Launcher>> Open(const Options& options);

  Launcher(Identities identities, DataDirectory directory, Programs programs, UniqueFd signals,
           std::string metrics_listen);

  // Until a signal ends the node.
  void Run();

 private:
  void Wait(bool& signalled, short& agent_events) const;
  void OnSignals();
  void OnChildren();
  void OnAgent(short events);

  // Constant after construction.
  const Identities identities_;
  const DataDirectory directory_;
  const Programs programs_;
  const UniqueFd signals_;
  const SystemClock clock_;

  Processes processes_;
  Endpoints endpoints_;
  Requests requests_;
  AgentProcess agent_;
  Shutdown shutdown_;
};

}  // namespace croft::node::launcher
