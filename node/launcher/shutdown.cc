#include "node/launcher/shutdown.h"

#include <signal.h>

#include <algorithm>
#include <array>

namespace croft::node::launcher {
namespace {

using std::chrono::milliseconds;

struct Step {
  v1::ProcessKind kind;
  int signal;
  milliseconds until;  // since the beginning
};

constexpr std::array<Step, 6> kSteps = {Step{v1::AGENT, SIGTERM, milliseconds(2000)},
                                        Step{v1::LISTENER, SIGTERM, milliseconds(8000)},
                                        Step{v1::WORKER, SIGTERM, milliseconds(10000)},
                                        Step{v1::AGENT, SIGKILL, milliseconds(11000)},
                                        Step{v1::LISTENER, SIGKILL, milliseconds(11000)},
                                        Step{v1::WORKER, SIGKILL, milliseconds(11000)}};

}  // namespace

bool Shutdown::Runs(v1::ProcessKind kind) const {
  return kind == v1::AGENT ? agent_.running() : processes_.Has(kind);
}

void Shutdown::Signal(v1::ProcessKind kind, int signal) const {
  if (kind == v1::AGENT) {
    agent_.Signal(signal);
  } else {
    processes_.Signal(kind, signal);
  }
}

void Shutdown::Begin() {
  if (begun_) {
    hurry_ = true;
    Signal(v1::AGENT, SIGKILL);
    Signal(v1::LISTENER, SIGKILL);
    Signal(v1::WORKER, SIGKILL);
    return;
  }
  begun_ = true;
  began_ = clock_.Monotonic();
  Signal(kSteps[0].kind, kSteps[0].signal);
  Advance();
}

std::chrono::steady_clock::time_point Shutdown::Deadline() const {
  return began_ + (hurry_ ? milliseconds(0) : kSteps[step_].until);
}

void Shutdown::Advance() {
  while (!done() && (!Runs(kSteps[step_].kind) || clock_.Monotonic() >= Deadline())) {
    ++step_;
    if (!done()) {
      Signal(kSteps[step_].kind, kSteps[step_].signal);
    }
  }
}

bool Shutdown::done() const { return begun_ && step_ >= kSteps.size(); }

milliseconds Shutdown::UntilDue() const {
  return std::max(std::chrono::ceil<milliseconds>(Deadline() - clock_.Monotonic()),
                  milliseconds(0));
}

}  // namespace croft::node::launcher
