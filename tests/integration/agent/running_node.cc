#include "tests/integration/agent/running_node.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "proto/base/unique_fd.h"

namespace croft::node::agent {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kFirst = 58200;
constexpr int kTimeoutS = 5;

sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Field after the command's name in /proc/PID/stat: state is 0, parent is 1.
std::string StatField(pid_t pid, int index) {
  const std::string stat = ReadAll("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t end = stat.rfind(')');
  if (end == std::string::npos) {
    return "";
  }
  std::istringstream rest(stat.substr(end + 2));
  std::string field;
  for (int i = 0; i <= index; ++i) {
    rest >> field;
  }
  return field;
}

}  // namespace

Answer Get(std::uint16_t port, const std::string& host, const std::string& path) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval timeout{.tv_sec = kTimeoutS, .tv_usec = 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  const sockaddr_in address = Loopback(port);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return {};
  }
  const std::string request =
      "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n";
  if (::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) {
    return {};
  }
  std::string text;
  char buffer[16384];
  for (ssize_t size = 0; (size = ::recv(fd.get(), buffer, sizeof buffer, 0)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(size));
  }
  const std::size_t body = text.find("\r\n\r\n");
  if (body == std::string::npos) {
    return {};
  }
  return {.status = std::atoi(text.c_str() + 9), .body = text.substr(body + 4)};
}

std::uint16_t FreePort() {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof address;
  ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size);
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

RunningNode::RunningNode() {
  char name[] = "/tmp/croft-node-XXXXXX";
  directory_ = ::mkdtemp(name);
  fs::permissions(directory_, fs::perms(0755));
  fs::create_directories(directory_ / "d");
  fs::create_directories(content());
  Configure("addresses: [\"127.0.0.1\"]");
  Configure("loops: 2");
}

RunningNode::~RunningNode() {
  Stop();
  fs::remove_all(directory_);
}

void RunningNode::Configure(const std::string& line) {
  std::ofstream(directory_ / "d/node.yaml", std::ios::app) << line << "\n";
}

std::string RunningNode::WriteFile(const std::string& name, const std::string& text) {
  const fs::path path = directory_ / name;
  std::ofstream(path) << text;
  return path;
}

void RunningNode::Start() {
  const std::string program = std::string(std::getenv("CROFT_BIN")) + "/croft-launcher";
  const std::string data = "--data-dir=" + (directory_ / "d").string();
  const std::string range =
      "--identity-range=" + std::to_string(kFirst) + "-" + std::to_string(kFirst + 49);
  const std::string log = directory_ / "log";
  launcher_ = ::fork();
  if (launcher_ == 0) {
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    ::dup2(out, 1);
    ::dup2(out, 2);
    ::execl(program.c_str(), "croft-launcher", data.c_str(), range.c_str(), nullptr);
    ::_exit(127);
  }
}

void RunningNode::Stop() {
  if (launcher_ > 0) {
    ::kill(launcher_, SIGTERM);
    ::waitpid(launcher_, nullptr, 0);
    launcher_ = 0;
  }
}

void RunningNode::DamageReplica() {
  constexpr std::uintmax_t kMetaBytes = 2 * 4096;
  const fs::path file = directory_ / "d/replica/current/data.mdb";
  const std::uintmax_t size = fs::file_size(file);
  std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
  out.seekp(kMetaBytes);
  out << std::string(size - kMetaBytes, 'x');
}

std::vector<pid_t> RunningNode::Pids(const std::string& program) const {
  std::vector<pid_t> pids;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0 && StatField(pid, 1) == std::to_string(launcher_) && StatField(pid, 0) != "Z" &&
        ReadAll(entry.path() / "cmdline").find(program) != std::string::npos) {
      pids.push_back(pid);
    }
  }
  return pids;
}

pid_t RunningNode::Pid(const std::string& program) const {
  const std::vector<pid_t> pids = Pids(program);
  return pids.size() == 1 ? pids[0] : 0;
}

std::string RunningNode::log() const { return ReadAll(directory_ / "log"); }

std::string RunningNode::ErrorLog() const { return ReadAll(directory_ / "d/log/error.log"); }

}  // namespace croft::node::agent
