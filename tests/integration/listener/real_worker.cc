#include "tests/integration/listener/real_worker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "croft/node/v1/channel.pb.h"
#include "node/counters/counter_memory.h"
#include "node/link/inherited_fds.h"
#include "proto/base/check.h"
#include "tests/integration/listener/visitor.h"

namespace croft::node::listener::test {

RealWorker::RealWorker(const std::string& socket_path, std::uint64_t process_id)
    : socket_path_(socket_path) {
  const std::string program = std::string(std::getenv("CROFT_BIN")) + "/croft-worker";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
  const UniqueFd listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  Check(::bind(listening.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
            ::listen(listening.get(), 64) == 0,
        "cannot listen for the worker");
  auto pair = link::Channel::MakePair();
  auto memory = counters::CounterMemory::Create();
  Check(pair.ok() && memory.ok(), "no channel or memory");
  channel_ = std::make_unique<link::Channel>(std::move(pair->first));
  const UniqueFd copies[] = {UniqueFd(::fcntl(pair->second.get(), F_DUPFD_CLOEXEC, 10)),
                             UniqueFd(::fcntl(memory->get(), F_DUPFD_CLOEXEC, 10)),
                             UniqueFd(::fcntl(listening.get(), F_DUPFD_CLOEXEC, 10))};
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(copies[0].get(), link::kControlChannelFd);
    ::dup2(copies[1].get(), link::kCounterMemoryFd);
    ::dup2(copies[2].get(), link::kWorkerSocketFd);
    ::execl(program.c_str(), program.c_str(), nullptr);
    ::_exit(127);
  }
  v1::AgentToWorker setup;
  setup.mutable_setup()->set_pool_uid(7);
  setup.mutable_setup()->set_pool_name("farms/main/pools/web");
  setup.mutable_setup()->set_max_concurrent_requests(256);
  setup.mutable_setup()->set_process_id(process_id);
  Check(channel_->Send(setup).ok(), "no setup");
  Check(Eventually([&] {
          const auto received = channel_->Receive();
          return received.ok() && received->has_value();
        }),
        "the worker is not ready");
}

RealWorker::~RealWorker() {
  Kill();
  ::unlink(socket_path_.c_str());
}

void RealWorker::Kill() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
}

}  // namespace croft::node::listener::test
