#include "node/launcher/child.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <iterator>

#include "proto/base/error.h"
#include "proto/base/unique_fd.h"

namespace croft::node::launcher {
namespace {

constexpr int kFirstDescriptor = 3;
// Descriptors are moved above this first, so that none is overwritten on its way to its number.
constexpr int kHighDescriptor = 64;
constexpr mode_t kUmask = 0027;

bool ResetSignals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    ::signal(signal, SIG_DFL);  // fails for SIGKILL, SIGSTOP and the library's own two
  }
  sigset_t none;
  return ::sigemptyset(&none) == 0 && ::sigprocmask(SIG_SETMASK, &none, nullptr) == 0;
}

bool EmptyStandardInput() {
  const int null = ::open("/dev/null", O_RDONLY);
  return null >= 0 && ::dup2(null, STDIN_FILENO) == STDIN_FILENO;
}

// Everything else closes on exec. `kept` descriptors, which are needed until then, move out of the
// way.
bool PlaceDescriptors(const std::vector<int>& descriptors, std::initializer_list<int*> kept) {
  std::vector<int> high;
  for (const int fd : descriptors) {
    high.push_back(::fcntl(fd, F_DUPFD_CLOEXEC, kHighDescriptor));
  }
  for (int* fd : kept) {
    if (const int moved = ::fcntl(*fd, F_DUPFD_CLOEXEC, kHighDescriptor); moved >= 0) {
      *fd = moved;
    } else {
      return false;
    }
  }
  int number = kFirstDescriptor;
  for (const int fd : high) {
    if (fd < 0 || ::dup2(fd, number) != number) {
      return false;
    }
    ++number;
  }
  return ::close_range(static_cast<unsigned>(number), ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

bool SetLimits(rlim_t descriptors_max) {
  const rlimit none{0, 0};
  rlimit files{};
  if (::setrlimit(RLIMIT_CORE, &none) != 0 || ::getrlimit(RLIMIT_NOFILE, &files) != 0) {
    return false;
  }
  const rlimit wanted{descriptors_max, descriptors_max};
  if (::setrlimit(RLIMIT_NOFILE, &wanted) == 0) {
    return true;
  }
  // Not privileged to raise the hard limit: as many as there are.
  const rlim_t most = std::min(descriptors_max, files.rlim_max);
  const rlimit possible{most, most};
  return ::setrlimit(RLIMIT_NOFILE, &possible) == 0;
}

bool SetOomScore(int score) {
  const UniqueFd file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  const std::string text = std::to_string(score);
  // Below the score it was started with is not an unprivileged process's to choose.
  return file && (::write(file.get(), text.data(), text.size()) > 0 || errno == EACCES);
}

bool DropCapabilityBounds() {
  for (cap_value_t capability = 0; capability <= cap_max_bits() - 1; ++capability) {
    if (::cap_get_bound(capability) > 0 && ::cap_drop_bound(capability) != 0) {
      return false;
    }
  }
  return true;
}

bool BecomeIdentity(const Identity& identity) {
  return ::setgroups(identity.groups.size(), identity.groups.data()) == 0 &&
         ::setresgid(identity.gid, identity.gid, identity.gid) == 0 &&
         ::setresuid(identity.uid, identity.uid, identity.uid) == 0;
}

bool DropCapabilities() {
  const cap_t none = ::cap_init();
  const bool dropped = none != nullptr && ::cap_reset_ambient() == 0 && ::cap_set_proc(none) == 0;
  ::cap_free(none);
  return dropped;
}

// Changing the identity clears the signal, so this comes after it.
bool DieWithLauncher(pid_t launcher) {
  return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == launcher;
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) {
    pointers.push_back(const_cast<char*>(text.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

[[noreturn]] void Fail(int report, const char* step) {
  const std::string text = fmt::format("{}: {}", step, std::strerror(errno));
  // Nobody is left to tell if this fails.
  [[maybe_unused]] const ssize_t written = ::write(report, text.data(), text.size());
  ::_exit(127);
}

[[noreturn]] void RunChild(const ChildPlan& plan, pid_t launcher, int report) {
  int program = plan.program.file;
  int directory = plan.program.directory;
  const auto must = [&report](bool done, const char* step) {
    if (!done) {
      Fail(report, step);
    }
  };
  must(::setsid() >= 0, "begin a session");
  must(ResetSignals(), "reset signals");
  must(EmptyStandardInput(), "empty the standard input");
  must(PlaceDescriptors(plan.descriptors, {&report, &program, &directory}), "place descriptors");
  must(SetOomScore(plan.oom_score), "set the out-of-memory score");
  must(SetLimits(plan.descriptors_max), "set limits");
  ::umask(kUmask);
  must(::chdir("/") == 0, "leave the working directory");
  if (plan.become_identity) {
    must(DropCapabilityBounds(), "drop the capability bounds");
    must(BecomeIdentity(plan.identity), "become the identity");
  }
  must(DropCapabilities(), "drop capabilities");
  must(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "renounce new privileges");
  must(DieWithLauncher(launcher), "tie its life to the launcher's");
  const std::vector<char*> arguments = Pointers(plan.arguments);
  const std::vector<char*> environment = Pointers(plan.environment);
  // By its name where the identity may: kernels before 6.14 show a number in its place otherwise.
  ::execveat(directory, arguments[0], arguments.data(), environment.data(), 0);
  ::fexecve(program, arguments.data(), environment.data());
  Fail(report, "execute");
}

// What the child reports before the program begins: nothing, if all went well.
std::string ReadReport(int report) {
  std::string text;
  std::array<char, 256> part{};
  for (;;) {
    const ssize_t size = ::read(report, part.data(), part.size());
    if (size > 0) {
      text.append(part.data(), static_cast<std::size_t>(size));
    } else if (size == 0 || errno != EINTR) {
      return text;
    }
  }
}

}  // namespace

absl::StatusOr<pid_t> StartChild(const ChildPlan& plan) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return ErrnoError("start {}: pipe", plan.arguments.front());
  }
  const UniqueFd read_end(pipe[0]);
  UniqueFd write_end(pipe[1]);
  const pid_t launcher = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    return ErrnoError("start {}: fork", plan.arguments.front());
  }
  if (pid == 0) {
    RunChild(plan, launcher, write_end.get());
  }
  write_end.reset();
  const std::string report = ReadReport(read_end.get());
  if (!report.empty()) {
    ::waitpid(pid, nullptr, 0);
    return Error(absl::StatusCode::kInternal, "start {} as user {}: {}", plan.arguments.front(),
                 plan.identity.uid, report);
  }
  return pid;
}

std::uint64_t StartTimeOf(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  // The name in field 2 may hold anything but is the last thing in parentheses.
  std::size_t at = text.rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) {
    at = text.find(' ', at + 1);
  }
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at, nullptr, 10);
}

std::vector<std::string> ChildEnvironment() {
  std::vector<std::string> environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"};
  for (const char* name : {"CROFT_LOG", "TZ"}) {
    if (const char* value = std::getenv(name); value != nullptr) {
      environment.push_back(fmt::format("{}={}", name, value));
    }
  }
  return environment;
}

}  // namespace croft::node::launcher
