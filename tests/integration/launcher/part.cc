// Stands for an agent, a listener or a worker under a real launcher. As croft-agent it hands its
// end of the launcher's channel to the test, which then is the agent; otherwise it answers a Ping,
// exits 7 when drained, and on SIGTERM says so and exits 0.
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>

#include "croft/node/v1/channel.pb.h"
#include "croft/node/v1/launcher.pb.h"
#include "node/link/channel.h"
#include "node/link/inherited_fds.h"

namespace {

using croft::UniqueFd;
using croft::node::link::Channel;
namespace v1 = croft::node::v1;

int RunAgent(std::string_view option) {
  const std::string data_dir(option.substr(option.find('=') + 1));
  const std::string path = data_dir + "/../agent.sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET, 0));
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    return 1;
  }
  Channel test(std::move(socket));
  v1::LauncherMessage greeting;
  greeting.set_request_id(1);
  if (!test.Send(greeting, {croft::node::link::kControlChannelFd}).ok()) {
    return 1;
  }
  ::close(croft::node::link::kControlChannelFd);
  for (;;) {
    ::pause();
  }
}

Channel& Control() {
  static Channel channel{UniqueFd(croft::node::link::kControlChannelFd)};
  return channel;
}

// What is said on SIGTERM, made beforehand: a handler must not allocate.
const std::string& Farewell() {
  static const std::string bytes = [] {
    v1::WorkerToAgent message;
    message.mutable_event()->set_kind("terminated");
    return message.SerializeAsString();
  }();
  return bytes;
}

void SayAndExit(int /*signal*/) {
  const std::string& bytes = Farewell();
  const ssize_t sent =
      ::send(croft::node::link::kControlChannelFd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  ::_exit(sent > 0 ? 0 : 1);
}

int RunWorker() {
  Farewell();
  ::signal(SIGTERM, SayAndExit);
  v1::WorkerToAgent ready;
  ready.mutable_ready();
  if (!Control().Send(ready).ok()) {
    return 1;
  }
  // The launcher made the channel non-blocking; waiting is all that is done here.
  for (;;) {
    fd_set readable;
    FD_ZERO(&readable);
    FD_SET(Control().fd(), &readable);
    ::select(Control().fd() + 1, &readable, nullptr, nullptr, nullptr);
    const auto received = Control().Receive();
    v1::AgentToWorker message;
    if (!received.ok() || !received->has_value() ||
        !croft::node::link::ParseMessage((*received)->bytes, message).ok()) {
      return 1;
    }
    if (message.has_drain()) {
      return 7;
    }
    v1::WorkerToAgent pong;
    pong.mutable_pong()->set_sequence(message.ping().sequence());
    if (!Control().Send(pong).ok()) {
      return 1;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return std::string_view(argv[0]) == "croft-agent" && argc == 2 ? RunAgent(argv[1]) : RunWorker();
}
