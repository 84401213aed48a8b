#include "tests/integration/worker/worker_process.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <utility>
#include <vector>

#include "node/link/inherited_fds.h"
#include "proto/contract/settings_rules.h"

namespace croft::node::worker {
namespace {

namespace fs = std::filesystem;

UniqueFd ListenOn(const std::string& path) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(socket.get(), 16), 0);
  return socket;
}

// In the child: puts the three descriptors where a worker looks for them and becomes one.
[[noreturn]] void BecomeWorker(std::array<int, 3> descriptors, const std::string& program) {
  for (std::size_t i = 0; i < descriptors.size(); ++i) {
    // Out of the way first: the numbers wanted may be taken by each other.
    descriptors[i] = ::fcntl(descriptors[i], F_DUPFD_CLOEXEC, 100);
  }
  // Opened as whoever runs the test: the worker's identity may not reach it by path.
  const int executable =
      ::fcntl(::open(program.c_str(), O_RDONLY | O_CLOEXEC), F_DUPFD_CLOEXEC, 100);
  ::dup2(descriptors[0], link::kControlChannelFd);
  ::dup2(descriptors[1], link::kCounterMemoryFd);
  ::dup2(descriptors[2], link::kWorkerSocketFd);
  if (::geteuid() == 0 &&
      (::setgroups(0, nullptr) != 0 || ::setgid(kWorkerUid) != 0 || ::setuid(kWorkerUid) != 0)) {
    ::_exit(126);
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string name = program;
  const std::array<char*, 2> arguments = {name.data(), nullptr};
  ::fexecve(executable, arguments.data(), environ);
  ::_exit(127);
}

}  // namespace

bool Eventually(const std::function<bool()>& holds, std::chrono::milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

WorkerProcess::WorkerProcess(Options options) {
  std::string pattern = (fs::temp_directory_path() / "croft-worker-XXXXXX").string();
  directory_ = fs::canonical(::mkdtemp(pattern.data()));
  fs::permissions(directory_, fs::perms(0755));
  fs::create_directories(store() / "site");
  auto pair = link::Channel::MakePair();
  auto memory = counters::CounterMemory::Create();
  UniqueFd listening = ListenOn(socket_path());
  const std::string program = std::string(std::getenv("CROFT_BIN")) + "/croft-worker";
  pid_ = ::fork();
  if (pid_ == 0) {
    BecomeWorker({pair->second.get(), memory->get(), listening.get()}, program);
  }
  channel_ = std::make_unique<link::Channel>(std::move(pair->first));
  memory_ = *counters::CounterMemory::Map(memory->get(), false);
  v1::AgentToWorker message;
  message.mutable_setup()->set_pool_uid(1);
  message.mutable_setup()->set_pool_name("farms/main/pools/test");
  message.mutable_setup()->set_max_concurrent_requests(options.max_concurrent_requests);
  message.mutable_setup()->set_separate_identities(options.separate_identities);
  message.mutable_setup()->set_listener_uid(options.listener_uid);
  message.mutable_setup()->set_process_id(kProcessId);
  Send(message);
  const auto ready = Receive();
  EXPECT_TRUE(ready.has_value() && ready->has_ready()) << "the worker does not become ready";
  client_ = std::make_unique<Http2Client>(socket_path());
}

WorkerProcess::~WorkerProcess() {
  client_.reset();
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

v1::TargetSettings WorkerProcess::DefaultSettings(const std::string& store_path) {
  v1::TargetSettings settings;
  settings.set_site_uid(1);
  settings.set_store_uid(kStoreUid);
  settings.set_store_path(store_path);
  *settings.mutable_settings() = contract::DefaultSettings();
  return settings;
}

fs::path WorkerProcess::WriteFile(const std::string& name, const std::string& text) {
  const fs::path path = store() / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  const timespec times[2] = {{.tv_sec = 784'111'777, .tv_nsec = 0},
                             {.tv_sec = 784'111'777, .tv_nsec = 0}};
  EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  return path;
}

ClientResponse WorkerProcess::Get(const std::string& path, const Headers& extra) {
  return Ask("GET", path, extra);
}

ClientResponse WorkerProcess::Ask(const std::string& method, const std::string& path,
                                  const Headers& extra) {
  Headers headers = Request(method, path, settings(), {.settings_number = 0, .root = "site"});
  headers.insert(headers.end(), extra.begin(), extra.end());
  return client_->Await(client_->Submit(headers));
}

Headers WorkerProcess::Request(const std::string& method, const std::string& path,
                               const v1::TargetSettings& settings, const link::Target& target) {
  return {
      {":method", method},
      {":scheme", "http"},
      {":authority", "test.example"},
      {":path", path},
      {std::string(link::kSettingsHeader), link::EncodeSettings(target.settings_number, settings)},
      {std::string(link::kTargetHeader), link::EncodeTarget(target)}};
}

void WorkerProcess::Send(const v1::AgentToWorker& message) {
  const absl::Status sent = channel_->Send(message);
  EXPECT_TRUE(sent.ok()) << sent;
}

std::optional<v1::WorkerToAgent> WorkerProcess::Receive() {
  pollfd ready{.fd = channel_->fd(), .events = POLLIN, .revents = 0};
  if (::poll(&ready, 1, 15'000) != 1) {
    return std::nullopt;
  }
  const auto received = channel_->Receive();
  v1::WorkerToAgent message;
  if (!received.ok() || !received->has_value() ||
      !link::ParseMessage((*received)->bytes, message).ok()) {
    return std::nullopt;
  }
  return message;
}

std::optional<int> WorkerProcess::AwaitExit(std::chrono::milliseconds time) {
  int status = 0;
  if (!Eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; }, time)) {
    return std::nullopt;
  }
  pid_ = 0;
  return status;
}

std::int64_t WorkerProcess::WorkerCounterValue(counters::WorkerCounter counter) const {
  std::int64_t value = -1;
  memory_->ForEach([&](counters::InstanceType type, std::int64_t uid, const std::int64_t* values) {
    if (type == counters::InstanceType::kWorker && uid == kProcessId) {
      value = values[static_cast<std::size_t>(counter)];
    }
  });
  return value;
}

std::int64_t WorkerProcess::StoreCounterValue(counters::StoreCounter counter) const {
  std::int64_t value = -1;
  memory_->ForEach([&](counters::InstanceType type, std::int64_t uid, const std::int64_t* values) {
    if (type == counters::InstanceType::kStore && uid == kStoreUid) {
      value = values[static_cast<std::size_t>(counter)];
    }
  });
  return value;
}

std::int64_t WorkerProcess::PeakMemoryKib() const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) {
      return std::stoll(line.substr(6));
    }
  }
  return -1;
}

}  // namespace croft::node::worker
