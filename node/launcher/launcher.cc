#include "node/launcher/launcher.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <utility>

#include "node/launcher/supervisor_notice.h"
#include "proto/base/error.h"
#include "proto/base/log.h"

namespace croft::node::launcher {
namespace {

// So many requests are answered before the loop looks at signals again.
constexpr int kRequestsPerTurn = 64;

absl::StatusOr<UniqueFd> TakeSignals() {
  sigset_t mask;
  ::sigemptyset(&mask);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) {
    ::sigaddset(&mask, signal);
  }
  ::signal(SIGPIPE, SIG_IGN);
  UniqueFd fd(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd || ::sigprocmask(SIG_BLOCK, &mask, nullptr) != 0) {
    return ErrnoError("take signals");
  }
  return fd;
}

// The launcher holds every listening socket and three descriptors for each process.
void RaiseDescriptorLimit() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Launcher>> Launcher::Open(const Options& options) {
  RaiseDescriptorLimit();
  auto signals = TakeSignals();
  if (!signals.ok()) {
    return signals.status();
  }
  auto programs = Programs::FindBesideOwn();
  if (!programs.ok()) {
    return programs.status();
  }
  Identities identities = Identities::Detect(options.identities);
  auto directory = DataDirectory::Prepare(options.data_dir, identities);
  if (!directory.ok()) {
    return directory.status();
  }
  return std::make_unique<Launcher>(std::move(identities), std::move(*directory),
                                    std::move(*programs), std::move(*signals),
                                    options.metrics_listen);
}

Launcher::Launcher(Identities identities, DataDirectory directory, Programs programs,
                   UniqueFd signals, std::string metrics_listen)
    : identities_(std::move(identities)),
      directory_(std::move(directory)),
      programs_(std::move(programs)),
      signals_(std::move(signals)),
      processes_(programs_, identities_, directory_),
      requests_(identities_, processes_, endpoints_),
      agent_(programs_, identities_, directory_, clock_, std::move(metrics_listen)),
      shutdown_(agent_, processes_, clock_) {}

void Launcher::Run() {
  log::Info("launcher", "serving the node",
            {{"data_dir", directory_.path()},
             {"separate_identities", identities_.separate() ? "true" : "false"}});
  agent_.StartIfDue();
  NotifySupervisor("READY=1");
  while (!shutdown_.done()) {
    bool signalled = false;
    short agent_events = 0;
    Wait(signalled, agent_events);
    if (signalled) {
      OnSignals();
    }
    if (shutdown_.begun()) {
      shutdown_.Advance();
      continue;
    }
    OnAgent(agent_events);
    agent_.StartIfDue();
  }
  log::Info("launcher", "the node has ended");
}

void Launcher::Wait(bool& signalled, short& agent_events) const {
  std::array<pollfd, 2> polled = {pollfd{signals_.get(), POLLIN, 0}, pollfd{-1, 0, 0}};
  if (agent_.channel() != nullptr && !shutdown_.begun()) {
    polled[1].fd = agent_.channel()->fd();
    // An agent that does not read its answers is not asked for more requests.
    polled[1].events = agent_.waiting() > 0 ? POLLOUT : POLLIN;
  }
  int timeout_ms = -1;
  if (shutdown_.begun()) {
    timeout_ms = static_cast<int>(shutdown_.UntilDue().count());
  } else if (const auto due = agent_.UntilDue()) {
    timeout_ms = static_cast<int>(due->count());
  }
  if (::poll(polled.data(), polled.size(), timeout_ms) > 0) {
    signalled = polled[0].revents != 0;
    agent_events = polled[1].revents;
  }
}

void Launcher::OnSignals() {
  signalfd_siginfo signal{};
  while (::read(signals_.get(), &signal, sizeof(signal)) == ssize_t{sizeof(signal)}) {
    if (signal.ssi_signo == SIGCHLD) {
      OnChildren();
      continue;
    }
    log::Info(
        "launcher", "ending the node",
        {{"signal", std::to_string(signal.ssi_signo)}, {"sender", std::to_string(signal.ssi_pid)}});
    NotifySupervisor("STOPPING=1");
    shutdown_.Begin();
  }
}

void Launcher::OnChildren() {
  for (;;) {
    siginfo_t ended{};
    if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) {
      return;
    }
    const pid_t pid = ended.si_pid;
    const bool agent = pid == agent_.pid();
    std::optional<v1::Process> process = processes_.TakeEnded(pid);
    if (agent || process) {
      // What it left behind of its group; the number is still its own, since nobody has reaped it.
      ::kill(-pid, SIGKILL);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (agent) {
      agent_.OnEnded(status);
    } else if (process) {
      log::Info("launcher", "ended",
                {{"program", Programs::NameOf(process->kind())},
                 {"process", std::to_string(process->process_id())},
                 {"child", std::to_string(pid)},
                 {"pool", std::to_string(process->pool_uid())},
                 {"end", DescribeEnd(status)}});
      v1::LauncherMessage notice;
      v1::ProcessExited& exited = *notice.mutable_exited();
      exited.set_process_id(process->process_id());
      exited.set_pid(pid);
      exited.set_kind(process->kind());
      exited.set_pool_uid(process->pool_uid());
      exited.set_wait_status(status);
      agent_.Send(notice);
    }
  }
}

void Launcher::OnAgent(short events) {
  if (events == 0 || agent_.channel() == nullptr) {
    return;
  }
  agent_.Flush();
  for (int i = 0; i < kRequestsPerTurn && agent_.channel() != nullptr && agent_.waiting() == 0;
       ++i) {
    auto received = agent_.channel()->Receive();
    if (!received.ok()) {
      agent_.Drop(received.status());
      return;
    }
    if (!received->has_value()) {
      return;
    }
    v1::LauncherRequest request;
    if (const absl::Status status = link::ParseMessage((*received)->bytes, request); !status.ok()) {
      log::Warn("launcher", "the agent sent no request", {{"err", status.ToString()}});
      continue;
    }
    for (const Reply& reply : requests_.Answer(request)) {
      agent_.Send(reply.message, reply.descriptors);
    }
  }
}

}  // namespace croft::node::launcher
