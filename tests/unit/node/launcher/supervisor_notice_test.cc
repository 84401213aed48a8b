#include "node/launcher/supervisor_notice.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "proto/base/unique_fd.h"

namespace croft::node::launcher {
namespace {

TEST(NotifySupervisor, WritesToTheSocketOfTheEnvironment) {
  const std::string name = "@croft-notice-" + std::to_string(::getpid());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.c_str() + 1, name.size() - 1);
  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())),
            0);
  ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
  NotifySupervisor("READY=1");
  std::array<char, 64> bytes{};
  const ssize_t size = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
  ASSERT_GT(size, 0);
  EXPECT_EQ(std::string(bytes.data(), static_cast<std::size_t>(size)), "READY=1");
  ::unsetenv("NOTIFY_SOCKET");
  NotifySupervisor("READY=1");
  EXPECT_LT(::recv(socket.get(), bytes.data(), bytes.size(), 0), 0) << "nobody is told";
}

}  // namespace
}  // namespace croft::node::launcher
