#include "control/private_database/child_process.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "proto/base/error.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

namespace croft::control::private_database {
namespace {

constexpr std::size_t kTailBytes = 2000;

// What the child needs, prepared before fork: after it only async-signal-safe calls are allowed.
struct Prepared {
  std::vector<char*> argv;
  std::vector<const char*> environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "TZ=UTC"};
  UniqueFd input, output;
};

[[noreturn]] void RunChild(const Program& program, const Identity& identity,
                           const Prepared& prepared) {
  const bool as_other = ::geteuid() == 0;
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::setsid();
  ::umask(077);
  const int input = program.standard_input < 0 ? prepared.input.get() : program.standard_input;
  const int output = program.standard_output < 0 ? prepared.output.get() : program.standard_output;
  const bool ready =
      ::dup2(input, 0) == 0 && ::dup2(output, 1) == 1 && ::dup2(prepared.output.get(), 2) == 2 &&
      ::syscall(SYS_close_range, 3U, ~0U, 0U) == 0 &&
      (!as_other || (::setgroups(identity.groups.size(), identity.groups.data()) == 0 &&
                     ::setgid(identity.gid) == 0 && ::setuid(identity.uid) == 0)) &&
      ::chdir("/") == 0;
  if (ready) {
    ::execve(program.path.c_str(), prepared.argv.data(),
             const_cast<char* const*>(prepared.environment.data()));
  }
  ::_exit(127);
}

absl::Status OpenOutput(const Program& program, const Identity& identity, Prepared& prepared) {
  const std::string path = program.output.empty() ? "/dev/null" : program.output;
  prepared.output = UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!prepared.output) {
    return ErrnoError("open {}", path);
  }
  if (!program.output.empty() && ::geteuid() == 0 &&
      ::fchown(prepared.output.get(), identity.uid, identity.gid) != 0) {
    return ErrnoError("chown {}", path);
  }
  return absl::OkStatus();
}

absl::Status OpenInput(const Program& program, Prepared& prepared) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return ErrnoError("pipe");
  }
  prepared.input = UniqueFd(ends[0]);
  const UniqueFd write_end(ends[1]);
  const ssize_t written = ::write(write_end.get(), program.input.data(), program.input.size());
  return written == std::ssize(program.input) ? absl::OkStatus() : ErrnoError("write to a pipe");
}

}  // namespace

absl::StatusOr<Identity> FindIdentity(const std::string& os_user) {
  Identity identity{::geteuid(), ::getegid(), {}};
  if (identity.uid != 0) {
    return identity;
  }
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer{};
  if (::getpwnam_r(os_user.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr || found->pw_uid == 0) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "the private database needs an ordinary OS user, and there is no '{}'; install "
                 "Debian's postgresql package, which makes it, or give --database-url",
                 os_user);
  }
  identity.uid = found->pw_uid;
  identity.gid = found->pw_gid;
  int count = 64;
  identity.groups.resize(static_cast<std::size_t>(count));
  ::getgrouplist(os_user.c_str(), identity.gid, identity.groups.data(), &count);
  identity.groups.resize(static_cast<std::size_t>(std::clamp(count, 0, 64)));
  return identity;
}

absl::StatusOr<pid_t> StartProgram(const Program& program, const Identity& identity) {
  Prepared prepared;
  if (absl::Status status = OpenOutput(program, identity, prepared); !status.ok()) {
    return status;
  }
  if (absl::Status status = OpenInput(program, prepared); !status.ok()) {
    return status;
  }
  std::vector<std::string> words = {program.path};
  words.insert(words.end(), program.arguments.begin(), program.arguments.end());
  for (std::string& word : words) {
    prepared.argv.push_back(word.data());
  }
  prepared.argv.push_back(nullptr);
  for (const std::string& variable : program.environment) {
    prepared.environment.push_back(variable.c_str());
  }
  prepared.environment.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) {
    return ErrnoError("fork for {}", program.path);
  }
  if (pid == 0) {
    RunChild(program, identity, prepared);
  }
  return pid;
}

absl::Status RunProgram(const Program& program, const Identity& identity,
                        std::chrono::seconds timeout) {
  const auto pid = StartProgram(program, identity);
  if (!pid.ok()) {
    return pid.status();
  }
  const auto process = OpenProcess(*pid);
  if (!process.ok()) {
    return process.status();
  }
  pollfd ended{process->get(), POLLIN, 0};
  const int ready = ::poll(&ended, 1, static_cast<int>(std::chrono::milliseconds(timeout).count()));
  if (ready != 1) {
    ::kill(*pid, SIGKILL);
  }
  int status = 0;
  ::waitpid(*pid, &status, 0);
  if (ready == 1 && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return absl::OkStatus();
  }
  return Error(absl::StatusCode::kFailedPrecondition, "{} {}: {}", program.path,
               ready == 1 ? "failed" : "took too long and was killed", Tail(program.output));
}

absl::Status AwaitProgram(const Program& program, pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return absl::OkStatus();
  }
  return Error(absl::StatusCode::kFailedPrecondition, "{} failed: {}", program.path,
               Tail(program.output));
}

std::string Tail(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.size() > kTailBytes) {
    text.erase(0, text.size() - kTailBytes);
  }
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  std::ranges::replace(text, '\n', ' ');
  return text.empty() ? "(no output)" : text;
}

absl::StatusOr<UniqueFd> OpenProcess(pid_t pid) {
  UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
  if (!process) {
    return ErrnoError("process {}", pid);
  }
  return process;
}

bool WaitForEnd(const UniqueFd& process, std::chrono::milliseconds timeout) {
  pollfd ended{process.get(), POLLIN, 0};
  if (::poll(&ended, 1, static_cast<int>(timeout.count())) != 1) {
    return false;
  }
  siginfo_t info{};
  ::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(process.get()), &info,
           WEXITED | WNOHANG);
  return true;
}

}  // namespace croft::control::private_database
