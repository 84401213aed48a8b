// The order in which a node ends: the agent, then the listener, which lets visitors finish, then
// the workers it needed for that. At most eleven seconds; who is still there then is left to the
// kernel, which kills it with the launcher.
#pragma once

#include <chrono>

#include "node/launcher/agent_process.h"
#include "node/launcher/processes.h"
#include "proto/base/clock.h"

namespace croft::node::launcher {

class Shutdown {
 public:
  Shutdown(AgentProcess& agent, Processes& processes, const Clock& clock)
      : agent_(agent), processes_(processes), clock_(clock) {}

  // Asked a second time, it waits for nobody.
  void Begin();
  bool begun() const { return begun_; }
  // Goes on as far as possible; call it when a process ended and when UntilDue is over.
  void Advance();
  bool done() const;
  // REQUIRES: begun and not done.
  std::chrono::milliseconds UntilDue() const;

 private:
  bool Runs(v1::ProcessKind kind) const;
  void Signal(v1::ProcessKind kind, int signal) const;
  std::chrono::steady_clock::time_point Deadline() const;

  AgentProcess& agent_;
  Processes& processes_;
  const Clock& clock_;

  bool begun_ = false;
  bool hurry_ = false;
  std::size_t step_ = 0;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace croft::node::launcher
