#include "control/database_parent.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "control/data_directory.h"
#include "control/private_database/private_database.h"
#include "proto/base/error.h"
#include "proto/base/log.h"
#include "proto/base/unique_fd.h"

namespace croft::control {
namespace {

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "croft-control: %s\n", std::string(status.message()).c_str());
  return 1;
}

// Everything until the other end closes.
std::string ReadAll(int fd) {
  std::string text;
  char buffer[4096];
  ssize_t got = 0;
  while ((got = ::read(fd, buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

[[noreturn]] void RunChild(const Settings& settings, UniqueFd from_parent, pid_t parent,
                           const std::function<int(const std::string&)>& child) {
  // A change of identity would clear this, so it comes after: and a parent already gone is noticed.
  const absl::Status status = DropPrivileges(settings);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!status.ok() || ::getppid() != parent) {
    std::_Exit(status.ok() ? 1 : Fail(status));
  }
  const std::string database_url = ReadAll(from_parent.get());
  from_parent.reset();
  if (database_url.empty()) {
    std::_Exit(1);  // the parent has said why
  }
  std::exit(child(database_url));
}

// Passes TERM and INT on to the child until it ends; returns its exit code.
int Supervise(pid_t child) {
  sigset_t awaited;
  sigemptyset(&awaited);
  for (const int signal : {SIGTERM, SIGINT, SIGCHLD}) {
    sigaddset(&awaited, signal);
  }
  for (;;) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child) {
      if (WIFEXITED(status)) {
        return WEXITSTATUS(status);
      }
      log::Error("control", "the serving process was killed",
                 {{"signal", std::to_string(WTERMSIG(status))}});
      return 128 + WTERMSIG(status);
    }
    int signal = 0;
    ::sigwait(&awaited, &signal);
    if (signal != SIGCHLD) {
      ::kill(child, SIGTERM);
    }
  }
}

// Starts the database and tells the child; the child's exit code, or 1.
int RunParent(const Settings& settings, UniqueFd to_child, pid_t child) {
  private_database::Options options;
  options.data_dir = settings.data_dir;
  const auto database = private_database::PrivateDatabase::Start(options);
  if (database.ok()) {
    const std::string& url = (*database)->url();
    if (::write(to_child.get(), url.data(), url.size()) != std::ssize(url)) {
      ::kill(child, SIGTERM);
    }
  } else {
    Fail(database.status());
  }
  to_child.reset();
  return Supervise(child);
}

}  // namespace

int RunWithDatabaseParent(const Settings& settings,
                          const std::function<int(const std::string& database_url)>& child) {
  int ends[2];
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  if (::pipe2(ends, O_CLOEXEC) != 0 || ::sigprocmask(SIG_BLOCK, &children, nullptr) != 0) {
    return Fail(ErrnoError("start"));
  }
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    return Fail(ErrnoError("fork"));
  }
  if (pid == 0) {
    write_end.reset();
    RunChild(settings, std::move(read_end), parent, child);
  }
  read_end.reset();
  return RunParent(settings, std::move(write_end), pid);
}

}  // namespace croft::control
