#include "tests/integration/control/running_control.h"

#include <fcntl.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>
#include <thread>

namespace croft::tests {
namespace {

constexpr std::chrono::seconds kStartTimeout{60};
constexpr std::chrono::milliseconds kPoll{10};

// Ends the shared control when the tests have run.
class SharedEnvironment final : public testing::Environment {
 public:
  void TearDown() override { control.reset(); }
  std::unique_ptr<RunningControl> control;
};

auto* const environment = static_cast<SharedEnvironment*>(
    testing::AddGlobalTestEnvironment(std::make_unique<SharedEnvironment>().release()));

}  // namespace

std::string ReadFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string NewFarmId() {
  static int last = 0;
  return "t" + std::to_string(++last);
}

RunningControl& RunningControl::Shared() {
  std::unique_ptr<RunningControl>& control = environment->control;
  if (control == nullptr) {
    control = std::make_unique<RunningControl>();
    control->Start();
  }
  return *control;
}

RunningControl::RunningControl() {
  std::string name = "/tmp/croft-control-XXXXXX";
  if (::mkdtemp(name.data()) != nullptr) {
    directory_ = name;
  }
}

RunningControl::~RunningControl() {
  Stop();
  if (testing::Test::HasFailure()) {
    std::fprintf(stderr, "log of croft-control:\n%s\n", ReadFile(directory_ + ".log").c_str());
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
  std::filesystem::remove(directory_ + ".log", ignored);
}

pid_t RunningControl::Spawn(const std::string& output) const {
  const std::string program = std::string(std::getenv("CROFT_BIN")) + "/croft-control";
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // of a test that crashed nothing stays behind
    const int log = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    ::dup2(log, 1);
    ::dup2(log, 2);
    ::execl(program.c_str(), program.c_str(), "--data-dir", directory_.c_str(), "--listen",
            "127.0.0.1:0", nullptr);
    ::_exit(127);
  }
  return pid;
}

void RunningControl::Start() {
  std::filesystem::remove(directory_ + "/listen");
  pid_ = Spawn(directory_ + ".log");
  const auto deadline = std::chrono::steady_clock::now() + kStartTimeout;
  while (!std::filesystem::exists(directory_ + "/listen")) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << ReadFile(directory_ + ".log");
    ASSERT_EQ(::waitpid(pid_, nullptr, WNOHANG), 0) << ReadFile(directory_ + ".log");
    std::this_thread::sleep_for(kPoll);
  }
}

void RunningControl::Stop() {
  if (pid_ != 0) {
    ::kill(pid_, SIGTERM);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << ReadFile(directory_ + ".log");
    pid_ = 0;
  }
}

void RunningControl::Kill() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

int RunningControl::RunSecond(std::string& output) {
  const std::string log = directory_ + ".second";
  int status = 0;
  ::waitpid(Spawn(log), &status, 0);
  output = ReadFile(log);
  std::filesystem::remove(log);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// As root the serving process is a child of the one that was started.
std::size_t RunningControl::PeakMemory() const {
  std::size_t peak = 0;
  const std::string pid = std::to_string(pid_);
  std::istringstream children(ReadFile("/proc/" + pid + "/task/" + pid + "/children"));
  for (std::string process = pid; !process.empty(); process.clear(), children >> process) {
    const std::string status = ReadFile("/proc/" + process + "/status");
    const std::size_t at = status.find("VmHWM:");
    if (status.starts_with("Name:\tcroft-control") && at != std::string::npos) {
      peak = std::max(peak, std::stoul(status.substr(at + 6)) * 1024);
    }
  }
  return peak;
}

std::string RunningControl::address() const {
  std::string text = ReadFile(directory_ + "/listen");
  return text.substr(0, text.find('\n'));
}

std::string RunningControl::ca() const { return ReadFile(directory_ + "/ca.crt"); }

std::string RunningControl::token() const {
  const YAML::Node file = YAML::LoadFile(directory_ + "/operator.yaml");
  return file["contexts"][file["current"].as<std::string>()]["token"].as<std::string>();
}

std::shared_ptr<grpc::Channel> RunningControl::Connect(const std::string& certificate,
                                                       const std::string& key) const {
  grpc::ChannelArguments
      own;  // a connection of its own: another client's certificate must not be shared
  own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address(), grpc::SslCredentials({ca(), key, certificate}), own);
}

void Client::Authorize(grpc::ClientContext& context) const {
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  if (!token_.empty()) {
    context.AddMetadata("authorization", "Bearer " + token_);
  }
}

grpc::Status Client::Call(const std::string& method, const google::protobuf::Message& request,
                          google::protobuf::Message& response) const {
  using google::protobuf::Message;
  grpc::TemplatedGenericStub<Message, Message> stub(channel_);
  grpc::ClientContext context;
  Authorize(context);
  std::promise<grpc::Status> done;
  stub.UnaryCall(&context, "/" + method, {}, &request, &response,
                 [&done](grpc::Status status) { done.set_value(std::move(status)); });
  return done.get_future().get();
}

v1::ErrorDetail DetailOf(const grpc::Status& status) {
  v1::ErrorDetail detail;
  detail.ParseFromString(status.error_details());
  return detail;
}

}  // namespace croft::tests
