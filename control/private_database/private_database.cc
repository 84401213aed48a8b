#include "control/private_database/private_database.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "control/private_database/cluster.h"
#include "control/private_database/postmaster_file.h"
#include "proto/base/error.h"
#include "proto/base/log.h"
#include "proto/base/retry.h"

namespace croft::control::private_database {
namespace {

using Milliseconds = std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kSocketPathMax = 107;
constexpr Milliseconds kPoll{20};

// A connection string's value in quotes (libpq).
std::string Quote(std::string_view value) {
  std::string quoted = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') {
      quoted += '\\';
    }
    quoted += c;
  }
  return quoted + "'";
}

std::string MakeUrl(std::string_view socket_dir, std::string_view password) {
  return fmt::format("host={} port=5432 user={} dbname={} password={}", Quote(socket_dir), kUser,
                     kDatabase, Quote(password));
}

absl::StatusOr<std::string> ResolvePath(const std::string& data_dir) {
  std::array<char, PATH_MAX> absolute{};
  if (::realpath(data_dir.c_str(), absolute.data()) == nullptr) {
    return ErrnoError("data directory {}", data_dir);
  }
  return std::string(absolute.data());
}

absl::StatusOr<UniqueFd> LockDirectory(const std::string& path) {
  UniqueFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) {
    return ErrnoError("open {}", path);
  }
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "another croft-control runs on this data directory ({} is locked); stop it, or "
                 "choose another --data-dir",
                 path);
  }
  return lock;
}

// Inside the cluster's place, or, where that path is too long for a unix socket, a directory of its
// own under /tmp.
absl::StatusOr<std::string> MakeSocketDirectory(const Places& places, const Identity& identity) {
  std::string dir = places.root + "/socket";
  if ((dir + "/.s.PGSQL.5432").size() <= kSocketPathMax) {
    if (::mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST) {
      return ErrnoError("mkdir {}", dir);
    }
  } else {
    dir = "/tmp/croft-pg-XXXXXX";
    if (::mkdtemp(dir.data()) == nullptr) {
      return ErrnoError("mkdtemp {}", dir);
    }
  }
  // Control itself runs as neither root nor the database's user: it passes through, and shows the
  // password.
  if (::geteuid() == 0 &&
      (::chown(dir.c_str(), identity.uid, identity.gid) != 0 || ::chmod(dir.c_str(), 0711) != 0 ||
       ::chmod(places.root.c_str(), 0711) != 0)) {
    return ErrnoError("open {} to control", dir);
  }
  return dir;
}

class Server final : public PrivateDatabase {
 public:
  Server(const Options& options, Identity identity, UniqueFd lock)
      : options_(options),
        places_(options.data_dir),
        identity_(std::move(identity)),
        lock_(std::move(lock)) {}
  ~Server() override { Stop(); }

  absl::Status Open();
  const std::string& url() const override { return url_; }
  int server_pid() const override { return pid_.load(); }
  bool adopted() const override { return adopted_; }
  void Stop() override;

 private:
  // Takes over a server that already runs, waiting for one that is stopping to be gone.
  absl::StatusOr<bool> Adopt();
  absl::Status Launch();
  absl::Status WaitUntilReady();
  Program MakeProgram() const;
  // Starts the server again whenever it ends without having been told to.
  void Watch(const std::stop_token& stop);
  // False when told to stop.
  bool Pause(const std::stop_token& stop, Milliseconds time);

  const Options options_;
  const Places places_;
  const Identity identity_;
  const UniqueFd lock_;
  std::string bin_dir_;
  std::string socket_dir_;
  std::string url_;
  bool adopted_ = false;
  std::atomic<int> pid_{0};
  UniqueFd process_;  // of Open, then of the watcher, then of Stop

  std::mutex pause_mutex_;
  std::condition_variable_any pause_;
  std::jthread watcher_;
};

absl::Status Server::Open() {
  auto bin_dir = FindBinaries(places_, options_.bin_dir);
  if (!bin_dir.ok()) {
    return bin_dir.status();
  }
  bin_dir_ = *std::move(bin_dir);
  if (absl::Status status = CreateCluster(places_, bin_dir_, identity_); !status.ok()) {
    return status;
  }
  const auto password = ReadOrMakePassword(places_);
  if (!password.ok()) {
    return password.status();
  }
  const auto running = Adopt();
  if (!running.ok()) {
    return running.status();
  }
  adopted_ = *running;
  if (!adopted_) {
    auto socket_dir = MakeSocketDirectory(places_, identity_);
    if (!socket_dir.ok()) {
      return socket_dir.status();
    }
    socket_dir_ = *std::move(socket_dir);
    if (absl::Status status = Launch(); !status.ok()) {
      return status;
    }
  }
  url_ = MakeUrl(socket_dir_, *password);
  log::Info("private_database", adopted_ ? "adopted the running server" : "started the server",
            {{"pid", std::to_string(pid_.load())}, {"socket", socket_dir_}});
  watcher_ = std::jthread([this](const std::stop_token& stop) { Watch(stop); });
  ::pthread_setname_np(watcher_.native_handle(), "database-watch");
  return absl::OkStatus();
}

absl::StatusOr<bool> Server::Adopt() {
  const auto file = ReadPostmasterFile(places_.cluster);
  if (!file.has_value() || !IsRunning(*file, places_.cluster)) {
    return false;
  }
  auto process = OpenProcess(file->pid);
  if (!process.ok()) {
    return false;  // gone just now
  }
  if (file->status == "stopping") {
    if (!WaitForEnd(*process, options_.stop_timeout)) {
      return Error(absl::StatusCode::kUnavailable, "the server {} is stopping and does not end",
                   file->pid);
    }
    return false;
  }
  process_ = *std::move(process);
  pid_ = file->pid;
  socket_dir_ = file->socket_dir;
  if (absl::Status status = WaitUntilReady(); !status.ok()) {
    return status;
  }
  return true;
}

Program Server::MakeProgram() const {
  Program program;
  program.path = bin_dir_ + "/postgres";
  program.output = places_.start_log;
  program.arguments = {"-D", places_.cluster};
  const auto set = [&program](std::string_view name, std::string_view value) {
    program.arguments.emplace_back("-c");
    program.arguments.push_back(fmt::format("{}={}", name, value));
  };
  set("listen_addresses", "");
  set("port", "5432");
  set("unix_socket_directories", socket_dir_);
  set("unix_socket_permissions", ::geteuid() == 0 ? "0777" : "0700");
  set("max_connections", "50");
  set("shared_buffers", "128MB");
  set("fsync", "on");
  set("synchronous_commit", "on");
  set("jit", "off");
  set("timezone", "UTC");
  set("log_timezone", "UTC");
  // One file per day of the week, each made anew: a week of logs, and no more.
  set("logging_collector", "on");
  set("log_directory", places_.log_dir);
  set("log_filename", "postgres-%a.log");
  set("log_truncate_on_rotation", "on");
  set("log_rotation_age", "1d");
  set("log_rotation_size", "0");
  return program;
}

absl::Status Server::Launch() {
  if (absl::Status status = ClearStaleFile(places_.cluster); !status.ok()) {
    return status;
  }
  const auto pid = StartProgram(MakeProgram(), identity_);
  if (!pid.ok()) {
    return pid.status();
  }
  auto process = OpenProcess(*pid);
  if (!process.ok()) {
    return process.status();
  }
  process_ = *std::move(process);
  absl::Status status = WaitUntilReady();
  if (status.ok()) {
    pid_ = *pid;
  }
  return status;
}

absl::Status Server::WaitUntilReady() {
  const auto deadline = SteadyClock::now() + options_.start_timeout;
  while (SteadyClock::now() < deadline) {
    const auto file = ReadPostmasterFile(places_.cluster);
    if (file.has_value() && file->status == "ready" && IsRunning(*file, places_.cluster)) {
      return absl::OkStatus();
    }
    if (WaitForEnd(process_, kPoll)) {
      return Error(absl::StatusCode::kUnavailable, "PostgreSQL did not start: {} (see {})",
                   Tail(places_.start_log), places_.log_dir);
    }
  }
  return Error(absl::StatusCode::kDeadlineExceeded,
               "PostgreSQL was not ready after {} s; it may still be recovering, see {}",
               options_.start_timeout.count(), places_.log_dir);
}

bool Server::Pause(const std::stop_token& stop, Milliseconds time) {
  std::unique_lock lock(pause_mutex_);
  pause_.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

void Server::Watch(const std::stop_token& stop) {
  Backoff backoff({Milliseconds(100), Milliseconds(10'000)});
  while (!stop.stop_requested()) {
    if (pid_ != 0 && !WaitForEnd(process_, Milliseconds(200))) {
      continue;
    }
    if (stop.stop_requested()) {
      return;
    }
    if (pid_.exchange(0) != 0) {
      log::Error("private_database", "the server ended; starting it again");
    }
    if (absl::Status status = Launch(); status.ok()) {
      log::Info("private_database", "started the server again",
                {{"pid", std::to_string(pid_.load())}});
      backoff.Reset();
      continue;
    } else {
      log::Error("private_database", "could not start the server",
                 {{"err", std::string(status.message())}});
    }
    if (!Pause(stop, backoff.Next())) {
      return;
    }
  }
}

void Server::Stop() {
  if (watcher_.joinable()) {
    watcher_.request_stop();
    watcher_.join();
  }
  const int pid = pid_.exchange(0);
  if (pid == 0) {
    return;
  }
  ::kill(pid, SIGINT);  // fast shutdown; SIGTERM would wait for every client
  if (WaitForEnd(process_, options_.stop_timeout)) {
    log::Info("private_database", "stopped the server", {{"pid", std::to_string(pid)}});
  } else {
    log::Warn("private_database", "the server does not stop; leaving it",
              {{"pid", std::to_string(pid)}});
  }
  if (socket_dir_.starts_with("/tmp/croft-pg-")) {
    ::rmdir(socket_dir_.c_str());
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<PrivateDatabase>> PrivateDatabase::Start(const Options& options) {
  auto identity = FindIdentity(options.os_user);
  if (!identity.ok()) {
    return identity.status();
  }
  auto data_dir = ResolvePath(options.data_dir);
  if (!data_dir.ok()) {
    return data_dir.status();
  }
  Options resolved = options;
  resolved.data_dir = *std::move(data_dir);
  auto lock = LockDirectory(Places(resolved.data_dir).lock);
  if (!lock.ok()) {
    return lock.status();
  }
  auto server = std::make_unique<Server>(resolved, *std::move(identity), *std::move(lock));
  if (absl::Status status = server->Open(); !status.ok()) {
    return status;
  }
  return server;
}

absl::StatusOr<std::string> PrivateDatabase::FindRunning(const std::string& data_dir) {
  const auto resolved = ResolvePath(data_dir);
  if (!resolved.ok()) {
    return resolved.status();
  }
  const Places places(*resolved);
  const auto file = ReadPostmasterFile(places.cluster);
  if (!file.has_value() || file->status != "ready" || !IsRunning(*file, places.cluster)) {
    return Error(absl::StatusCode::kNotFound, "no PostgreSQL runs in {}", places.cluster);
  }
  const auto password = ReadOrMakePassword(places);
  return password.ok() ? absl::StatusOr<std::string>(MakeUrl(file->socket_dir, *password))
                       : password.status();
}

}  // namespace croft::control::private_database
