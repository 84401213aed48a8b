#include "control/backup/pg_tools.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "control/backup/files.h"
#include "control/private_database/cluster.h"
#include "control/store/database_snapshot.h"
#include "proto/base/error.h"
#include "proto/base/unique_fd.h"

// NOLINTNEXTLINE(readability-redundant-declaration)
extern char** environ;

namespace croft::control::backup {
namespace {

using private_database::Program;

constexpr int kPollMilliseconds = 200;
constexpr std::size_t kPiece = 256 * 1024;
// Statistics are in no dump; without them the first minutes would be slow.
constexpr char kEnd[] = "RESET search_path;\n{}ANALYZE;\nCOMMIT;\n";

struct Pipe {
  UniqueFd read_end, write_end;
};

absl::StatusOr<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return ErrnoError("pipe");
  }
  return Pipe{.read_end = UniqueFd(ends[0]), .write_end = UniqueFd(ends[1])};
}

// Everything that comes until the other end closes. A failure of `take` ends it.
absl::Status Drain(int fd, const std::function<absl::Status(std::string_view)>& take) {
  std::vector<char> piece(kPiece);
  for (;;) {
    if (StopRequested()) {
      return Error(absl::StatusCode::kCancelled, "stopped by a signal; nothing is left behind");
    }
    pollfd ready{fd, POLLIN, 0};
    if (::poll(&ready, 1, kPollMilliseconds) <= 0) {
      continue;
    }
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got == 0) {
      return absl::OkStatus();
    }
    if (got < 0 && errno != EINTR) {
      return ErrnoError("read from a pipe");
    }
    if (got > 0) {
      if (absl::Status status = take({piece.data(), static_cast<std::size_t>(got)}); !status.ok()) {
        return status;
      }
    }
  }
}

absl::Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno != EINTR) {
      return ErrnoError("write to psql");
    }
    bytes.remove_prefix(wrote < 0 ? 0 : static_cast<std::size_t>(wrote));
  }
  return absl::OkStatus();
}

// Where a program complains: in memory, since what it complains of may be a full disk.
class Complaints {
 public:
  explicit Complaints(Program& program) : fd_(::memfd_create("complaints", MFD_CLOEXEC)) {
    program.output = fmt::format("/proc/self/fd/{}", fd_.get());
  }

 private:
  const UniqueFd fd_;
};

Program MakeProgram(const PgTools& tools, std::string_view name,
                    std::vector<std::string> arguments) {
  Program program;
  program.path = fmt::format("{}/{}", tools.bin_dir, name);
  program.arguments = std::move(arguments);
  program.environment = tools.environment;
  return program;
}

// Started with its output in a pipe that it alone writes into.
absl::StatusOr<pid_t> StartWriter(const PgTools& tools, Program& program, Pipe& pipe) {
  program.standard_output = pipe.write_end.get();
  const auto pid = private_database::StartProgram(program, tools.identity);
  pipe.write_end.reset();
  return pid;
}

// What the program came to, once its pipe was read to `read`'s end or given up.
absl::Status EndWriter(const Program& program, pid_t pid, const absl::Status& read) {
  if (!read.ok()) {
    ::kill(pid, SIGTERM);
  }
  const absl::Status ended = private_database::AwaitProgram(program, pid);
  return read.ok() ? ended : read;
}

absl::Status FeedPsql(const PgTools& tools, const std::string& dump, const std::string& last_sql,
                      int psql) {
  auto pipe = MakePipe();
  if (!pipe.ok()) {
    return pipe.status();
  }
  const UniqueFd source(::open(dump.c_str(), O_RDONLY | O_CLOEXEC));
  if (!source) {
    return ErrnoError("open {}", dump);
  }
  Program restore = MakeProgram(tools, "pg_restore", {"--no-owner", "--no-privileges", "--file=-"});
  const Complaints complaints(restore);
  restore.standard_input = source.get();
  const auto pid = StartWriter(tools, restore, *pipe);
  if (!pid.ok()) {
    return pid.status();
  }
  ProgressLine progress("restoring the database");
  absl::Status status = WriteAll(psql, "BEGIN;\n");
  if (status.ok()) {
    status = Drain(pipe->read_end.get(), [&](std::string_view bytes) {
      progress.Add(bytes.size());
      return WriteAll(psql, bytes);
    });
  }
  pipe->read_end.reset();
  status = EndWriter(restore, *pid, status);
  // Only a script that came whole is committed.
  return status.ok() ? WriteAll(psql, fmt::format(kEnd, last_sql)) : status;
}

}  // namespace

absl::StatusOr<PgTools> PgTools::Find(int server_version, const std::string& url, uid_t uid) {
  auto bin_dir = private_database::FindClientPrograms(server_version / 10'000);
  if (!bin_dir.ok()) {
    return bin_dir.status();
  }
  auto connection = store::ConnectionEnvironment(url);
  if (!connection.ok()) {
    return connection.status();
  }
  PgTools tools{.bin_dir = *std::move(bin_dir),
                .environment = {},
                .identity = {uid, static_cast<gid_t>(uid), {}}};
  // What libpq finds by itself is found in the same places.
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::string_view(*variable).starts_with("PG") ||
        std::string_view(*variable).starts_with("HOME=")) {
      tools.environment.emplace_back(*variable);
    }
  }
  // The first of two of the same name counts.
  tools.environment.insert(tools.environment.begin(), connection->begin(), connection->end());
  return tools;
}

absl::Status DumpDatabase(const PgTools& tools, const std::string& snapshot_id,
                          const std::function<absl::Status(std::string_view)>& take) {
  auto pipe = MakePipe();
  if (!pipe.ok()) {
    return pipe.status();
  }
  Program dump = MakeProgram(tools, "pg_dump",
                             {"--format=custom", "--compress=1", "--no-owner", "--no-privileges",
                              "--no-password", "--snapshot=" + snapshot_id});
  const Complaints complaints(dump);
  const auto pid = StartWriter(tools, dump, *pipe);
  if (!pid.ok()) {
    return pid.status();
  }
  const absl::Status read = Drain(pipe->read_end.get(), take);
  pipe->read_end.reset();
  return EndWriter(dump, *pid, read);
}

absl::Status LoadDatabase(const PgTools& tools, const std::string& dump,
                          const std::string& last_sql) {
  auto pipe = MakePipe();
  if (!pipe.ok()) {
    return pipe.status();
  }
  Program psql = MakeProgram(tools, "psql",
                             {"--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--no-password",
                              "--output=/dev/null", "--file=-"});
  const Complaints complaints(psql);
  psql.standard_input = pipe->read_end.get();
  const auto pid = private_database::StartProgram(psql, tools.identity);
  if (!pid.ok()) {
    return pid.status();
  }
  pipe->read_end.reset();
  const absl::Status fed = FeedPsql(tools, dump, last_sql, pipe->write_end.get());
  pipe->write_end.reset();
  const absl::Status ended = private_database::AwaitProgram(psql, *pid);
  // A psql that gave up says why; without its reason, or with all fed, what went wrong is ours.
  const bool psql_gave_up = !ended.ok() && !absl::IsCancelled(fed);
  return psql_gave_up ? ended : fed;
}

}  // namespace croft::control::backup
