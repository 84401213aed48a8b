#include "tests/integration/launcher/launched_node.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cstring>
#include <fstream>
#include <thread>

#include "proto/base/check.h"

namespace croft::node::launcher {
namespace {

namespace fs = std::filesystem;

constexpr int kPatienceMs = 10'000;

fs::path Binary(const char* name) {
  const char* directory = std::getenv("CROFT_BIN");
  Check(directory != nullptr, "CROFT_BIN names the directory of the programs");
  return fs::path(directory) / name;
}

bool AwaitReadable(int fd) {
  pollfd polled{fd, POLLIN, 0};
  return ::poll(&polled, 1, kPatienceMs) == 1;
}

}  // namespace

bool Eventually(const std::function<bool()>& holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

bool IsDead(pid_t pid) {
  const std::string state = StatusField(pid, "State");
  return state.empty() || state[0] == 'Z' || state[0] == 'X';
}

std::string StatusField(pid_t pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(name + ":")) {
      continue;
    }
    std::istringstream words(line.substr(name.size() + 1));
    std::string value;
    for (std::string word; words >> word;) {
      value += (value.empty() ? "" : " ") + word;
    }
    return value;
  }
  return {};
}

LaunchedNode::LaunchedNode() {
  std::string pattern = "/tmp/croft-launcher-XXXXXX";
  Check(::mkdtemp(pattern.data()) != nullptr, "a temporary directory");
  directory_ = pattern;
  ::chmod(directory_.c_str(), 0755);
  fs::create_directory(directory_ / "bin");
  fs::copy(Binary("croft-launcher"), directory_ / "bin");
  for (const char* name : {"croft-agent", "croft-listener", "croft-worker"}) {
    fs::copy(Binary("launcher-test-part"), directory_ / "bin" / name);
  }
  const std::string path = directory_ / "agent.sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  agents_ = UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  Check(::bind(agents_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 &&
            ::listen(agents_.get(), 8) == 0,
        "a socket for agents");
  ::chmod(path.c_str(), 0666);
}

LaunchedNode::~LaunchedNode() {
  if (launcher_ > 0) {
    ::kill(launcher_, SIGKILL);
    ::waitpid(launcher_, nullptr, 0);
  }
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

void LaunchedNode::StartLauncher(uid_t uid) {
  if (uid != 0) {
    fs::create_directory(data_dir());
    Check(::chown(data_dir().c_str(), uid, uid) == 0, "the data directory is the user's");
  }
  const std::string program = directory_ / "bin/croft-launcher";
  const std::string data_dir_option = "--data-dir=" + data_dir().string();
  const std::string range = std::to_string(kFirst) + "-" + std::to_string(kLast);
  launcher_ = ::fork();
  if (launcher_ == 0) {
    const int log = ::open((directory_ / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    ::dup2(log, STDERR_FILENO);
    if (uid != 0 && (::setgroups(0, nullptr) != 0 || ::setresgid(uid, uid, uid) != 0 ||
                     ::setresuid(uid, uid, uid) != 0)) {
      ::_exit(126);
    }
    ::setenv("LD_LIBRARY_PATH_TEST", "leaks?", 1);
    ::setenv("TZ", "UTC", 1);
    // The launcher must not hand on what it was started with by mistake.
    ::dup2(log, 40);
    ::execl(program.c_str(), "croft-launcher", data_dir_option.c_str(), "--identity-range",
            range.c_str(), "--log-level=debug", nullptr);
    ::_exit(127);
  }
}

void LaunchedNode::AwaitAgent() {
  channel_.reset();
  ASSERT_TRUE(AwaitReadable(agents_.get())) << "no agent was started: " << log();
  UniqueFd connection(::accept4(agents_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  ucred peer{};
  socklen_t size = sizeof(peer);
  ASSERT_EQ(::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size), 0);
  agent_ = peer.pid;
  link::Channel greeter(std::move(connection));
  ASSERT_TRUE(AwaitReadable(greeter.fd()));
  auto greeting = greeter.Receive();
  ASSERT_TRUE(greeting.ok() && greeting->has_value());
  ASSERT_EQ((*greeting)->descriptors.size(), 1u);
  channel_ = std::make_unique<link::Channel>(std::move((*greeting)->descriptors[0]));
}

void LaunchedNode::Send(const v1::LauncherRequest& request, const std::vector<int>& descriptors) {
  absl::Status status;
  Eventually([&] {
    status = channel_->Send(request, descriptors);
    return !absl::IsResourceExhausted(status);
  });
  EXPECT_TRUE(status.ok()) << status;
}

Answer LaunchedNode::Next() {
  Answer answer;
  EXPECT_TRUE(AwaitReadable(channel_->fd())) << "the launcher does not answer: " << log();
  auto received = channel_->Receive();
  EXPECT_TRUE(received.ok() && received->has_value()) << received.status() << "\n" << log();
  if (received.ok() && received->has_value()) {
    EXPECT_TRUE(link::ParseMessage((*received)->bytes, answer.message).ok());
    answer.descriptors = std::move((*received)->descriptors);
  }
  return answer;
}

Answer LaunchedNode::Ask(v1::LauncherRequest request) {
  request.set_request_id(++last_request_);
  Send(request);
  Answer answer = Next();
  EXPECT_EQ(answer.message.request_id(), last_request_);
  return answer;
}

Answer LaunchedNode::StartWorker(std::uint32_t identity, std::int64_t pool_uid) {
  v1::LauncherRequest request;
  request.mutable_start()->set_kind(v1::WORKER);
  request.mutable_start()->set_identity(identity);
  request.mutable_start()->set_pool_uid(pool_uid);
  return Ask(request);
}

Answer LaunchedNode::StartListener() {
  v1::LauncherRequest request;
  request.mutable_start()->set_kind(v1::LISTENER);
  return Ask(request);
}

Answer LaunchedNode::OpenEndpoint(const std::string& ip, std::uint32_t port, std::uint32_t count) {
  v1::LauncherRequest request;
  request.mutable_open_endpoint()->set_ip(ip);
  request.mutable_open_endpoint()->set_port(port);
  request.mutable_open_endpoint()->set_count(count);
  return Ask(request);
}

std::vector<Answer> LaunchedNode::Inventory() {
  v1::LauncherRequest request;
  request.mutable_get_inventory();
  std::vector<Answer> answers;
  answers.push_back(Ask(request));
  while (!answers.back().message.has_inventory_end() && !testing::Test::HasFailure()) {
    answers.push_back(Next());
  }
  return answers;
}

std::string LaunchedNode::log() const {
  std::ifstream file(directory_ / "log");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

int LaunchedNode::AwaitEnd() {
  int status = -1;
  const bool ended = Eventually([&] { return ::waitpid(launcher_, &status, WNOHANG) != 0; }) ||
                     Eventually([&] { return ::waitpid(launcher_, &status, WNOHANG) != 0; });
  if (ended) {
    launcher_ = 0;
  }
  return ended ? status : -1;
}

v1::WorkerToAgent NextFrom(link::Channel& channel) {
  v1::WorkerToAgent message;
  EXPECT_TRUE(AwaitReadable(channel.fd()));
  auto received = channel.Receive();
  EXPECT_TRUE(received.ok() && received->has_value()) << received.status();
  if (received.ok() && received->has_value()) {
    EXPECT_TRUE(link::ParseMessage((*received)->bytes, message).ok());
  }
  return message;
}

}  // namespace croft::node::launcher
