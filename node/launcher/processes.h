// The processes of the node but for the agent: listener and workers, with what must outlive the
// agent: the agent's end of their control channel and their counter memory. Ids are never reused
// while the launcher lives.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "croft/node/v1/launcher.pb.h"
#include "node/launcher/data_directory.h"
#include "node/launcher/identities.h"
#include "node/launcher/programs.h"
#include "proto/base/unique_fd.h"

namespace croft::node::launcher {

struct Process {
  v1::Process facts;
  UniqueFd agent_end;  // of its control channel
  UniqueFd counters;
};

inline constexpr std::size_t kProcessesMax = 4096;

class Processes {
 public:
  Processes(const Programs& programs, const Identities& identities, const DataDirectory& directory)
      : programs_(programs), identities_(identities), directory_(directory) {}
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  // The pointer is good until the process is taken.
  absl::StatusOr<const Process*> Start(const v1::StartProcess& request);
  // Null if there is none.
  const Process* Find(std::uint64_t process_id) const;
  bool Has(v1::ProcessKind kind) const;
  void Signal(v1::ProcessKind kind, int signal) const;
  // Removes what is kept of a process that ended; nullopt if it was none of these.
  std::optional<v1::Process> TakeEnded(pid_t pid);

  const std::map<std::uint64_t, Process>& all() const { return all_; }

 private:
  absl::StatusOr<UniqueFd> CounterMemoryFor(v1::ProcessKind kind);

  // Constant after construction.
  const Programs& programs_;
  const Identities& identities_;
  const DataDirectory& directory_;

  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Process> all_;
  // One for all listeners, one after the other, so that a visitor's request is counted once
  // whatever restarts.
  UniqueFd listener_counters_;
};

}  // namespace croft::node::launcher
