#include "node/launcher/agent_process.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>

#include "node/launcher/child.h"
#include "proto/base/error.h"
#include "proto/base/log.h"

namespace croft::node::launcher {
namespace {

using std::chrono::milliseconds;

constexpr rlim_t kDescriptorsMax = 1u << 16;
// An agent that lived that long did not fail at its start.
constexpr std::chrono::seconds kStable{10};

}  // namespace

std::string DescribeEnd(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    return fmt::format("signal {} ({})", WTERMSIG(wait_status), ::strsignal(WTERMSIG(wait_status)));
  }
  return fmt::format("exit {}", WEXITSTATUS(wait_status));
}

std::optional<milliseconds> AgentProcess::UntilDue() const {
  if (running()) {
    return std::nullopt;
  }
  // Rounded up, so that a wait for it is not in vain.
  const auto left = std::chrono::ceil<milliseconds>(due_ - clock_.Monotonic());
  return std::max(left, milliseconds(0));
}

void AgentProcess::StartIfDue() {
  const auto wait = UntilDue();
  if (!wait || wait->count() > 0) {
    return;
  }
  started_ = clock_.Monotonic();
  if (const absl::Status status = Start(); !status.ok()) {
    due_ = started_ + backoff_.Next();
    log::Error("launcher", "could not start the agent; trying again", {{"err", status.ToString()}});
    return;
  }
  log::Info("launcher", "started the agent",
            {{"child", std::to_string(pid_)}, {"uid", std::to_string(identities_.Agent().uid)}});
}

absl::Status AgentProcess::Start() {
  auto program = programs_.Open(v1::AGENT);
  if (!program.ok()) {
    return program.status();
  }
  auto ends = link::Channel::MakePair();
  if (!ends.ok()) {
    return ends.status();
  }
  std::vector<std::string> arguments = {Programs::NameOf(v1::AGENT),
                                        "--data-dir=" + directory_.path()};
  if (!metrics_listen_.empty()) {
    arguments.push_back("--metrics-listen=" + metrics_listen_);
  }
  const auto pid =
      StartChild({.arguments = std::move(arguments),
                  .environment = ChildEnvironment(),
                  .program = {.file = program->get(), .directory = programs_.directory()},
                  .descriptors = {ends->second.get()},
                  .identity = identities_.Agent(),
                  .become_identity = identities_.separate(),
                  .descriptors_max = kDescriptorsMax});
  if (!pid.ok()) {
    return pid.status();
  }
  pid_ = *pid;
  channel_ = std::make_unique<link::Channel>(std::move(ends->first));
  queue_ = std::make_unique<link::SendQueue<v1::LauncherMessage>>(*channel_);
  return absl::OkStatus();
}

void AgentProcess::Send(const v1::LauncherMessage& message, const std::vector<int>& descriptors) {
  if (queue_ == nullptr) {
    return;
  }
  if (const absl::Status status = queue_->Send(message, descriptors); !status.ok()) {
    Drop(status);
  }
}

void AgentProcess::Flush() {
  if (queue_ == nullptr) {
    return;
  }
  if (const absl::Status status = queue_->Flush(); !status.ok()) {
    Drop(status);
  }
}

void AgentProcess::Signal(int signal) const {
  if (running()) {
    ::kill(pid_, signal);
  }
}

void AgentProcess::Drop(const absl::Status& why) {
  log::Warn("launcher", "the agent's channel is broken", {{"err", why.ToString()}});
  queue_.reset();
  channel_.reset();
  Signal(SIGKILL);
}

void AgentProcess::OnEnded(int wait_status) {
  const auto now = clock_.Monotonic();
  if (now - started_ >= kStable) {
    backoff_.Reset();
  }
  due_ = now + backoff_.Next();
  // Only when asked to does it end by itself without a failure.
  log::Write(wait_status == 0 ? log::Level::kInfo : log::Level::kWarn, "launcher",
             "the agent ended",
             {{"child", std::to_string(pid_)}, {"end", DescribeEnd(wait_status)}});
  pid_ = 0;
  queue_.reset();
  channel_.reset();
}

}  // namespace croft::node::launcher
