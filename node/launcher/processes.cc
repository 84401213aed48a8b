#include "node/launcher/processes.h"

#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "node/counters/counter_memory.h"
#include "node/launcher/child.h"
#include "node/link/channel.h"
#include "proto/base/error.h"

namespace croft::node::launcher {
namespace {

constexpr rlim_t kListenerDescriptorsMax = 1u << 20;
constexpr rlim_t kWorkerDescriptorsMax = 1u << 16;
// Under memory pressure a worker goes first: it restarts, and takes only what it held with it.
constexpr int kWorkerOomScore = 300;

}  // namespace

Processes::~Processes() {
  for (const auto& [id, process] : all_) {
    directory_.RemoveSocket(id);
  }
}

absl::StatusOr<UniqueFd> Processes::CounterMemoryFor(v1::ProcessKind kind) {
  if (kind == v1::WORKER) {
    return counters::CounterMemory::Create();
  }
  if (!listener_counters_) {
    auto created = counters::CounterMemory::Create();
    if (!created.ok()) {
      return created.status();
    }
    listener_counters_ = std::move(*created);
  } else if (!Has(v1::LISTENER)) {
    const auto memory = counters::CounterMemory::Map(listener_counters_.get(), true);
    if (!memory.ok()) {
      return memory.status();
    }
    (*memory)->ResetGauges();
  }
  UniqueFd copy(::fcntl(listener_counters_.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy) {
    return ErrnoError("share the listener's counter memory");
  }
  return copy;
}

absl::StatusOr<const Process*> Processes::Start(const v1::StartProcess& request) {
  const v1::ProcessKind kind = request.kind();
  if (kind != v1::LISTENER && kind != v1::WORKER) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "a process of kind {} cannot be asked for; LISTENER and WORKER can",
                 static_cast<int>(kind));
  }
  if (all_.size() >= kProcessesMax) {
    return Error(absl::StatusCode::kResourceExhausted,
                 "the node has {} processes, its limit; stop some first", all_.size());
  }
  const bool worker = kind == v1::WORKER;
  auto identity = worker ? identities_.Worker(request.identity()) : identities_.Listener();
  auto program = programs_.Open(kind);
  auto channel = link::Channel::MakePair();
  auto counters = CounterMemoryFor(kind);
  for (const absl::Status& status :
       {identity.status(), program.status(), channel.status(), counters.status()}) {
    if (!status.ok()) {
      return status;
    }
  }
  const std::uint64_t id = last_id_ + 1;
  ChildPlan plan{.arguments = {Programs::NameOf(kind)},
                 .environment = ChildEnvironment(),
                 .program = {.file = program->get(), .directory = programs_.directory()},
                 .descriptors = {channel->second.get(), counters->get()},
                 .identity = *identity,
                 .become_identity = identities_.separate(),
                 .descriptors_max = worker ? kWorkerDescriptorsMax : kListenerDescriptorsMax,
                 .oom_score = worker ? kWorkerOomScore : 0};
  UniqueFd socket;
  if (worker) {
    auto listening = directory_.ListenForWorker(id);
    if (!listening.ok()) {
      return listening.status();
    }
    socket = std::move(*listening);
    plan.descriptors.push_back(socket.get());
  }
  const auto pid = StartChild(plan);
  if (!pid.ok()) {
    directory_.RemoveSocket(id);
    return pid.status();
  }
  last_id_ = id;
  Process& process = all_[id];
  process.facts.set_process_id(id);
  process.facts.set_pid(*pid);
  process.facts.set_start_time(StartTimeOf(*pid));
  process.facts.set_kind(kind);
  process.facts.set_pool_uid(worker ? request.pool_uid() : 0);
  process.facts.set_uid(identity->uid);
  if (worker) {
    process.facts.set_socket_path(directory_.SocketPath(id));
  }
  process.agent_end = std::move(channel->first);
  process.counters = std::move(*counters);
  return &process;
}

const Process* Processes::Find(std::uint64_t process_id) const {
  const auto found = all_.find(process_id);
  return found == all_.end() ? nullptr : &found->second;
}

bool Processes::Has(v1::ProcessKind kind) const {
  return std::any_of(all_.begin(), all_.end(),
                     [kind](const auto& entry) { return entry.second.facts.kind() == kind; });
}

void Processes::Signal(v1::ProcessKind kind, int signal) const {
  for (const auto& [id, process] : all_) {
    if (process.facts.kind() == kind) {
      ::kill(process.facts.pid(), signal);
    }
  }
}

std::optional<v1::Process> Processes::TakeEnded(pid_t pid) {
  const auto found = std::find_if(all_.begin(), all_.end(), [pid](const auto& entry) {
    return entry.second.facts.pid() == pid;
  });
  if (found == all_.end()) {
    return std::nullopt;
  }
  v1::Process facts = std::move(found->second.facts);
  all_.erase(found);
  directory_.RemoveSocket(facts.process_id());
  return facts;
}

}  // namespace croft::node::launcher
