#include "node/launcher/data_directory.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace croft::node::launcher {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class DataDirectoryTest : public testing::Test {
 protected:
  DataDirectoryTest() : identities_({58000, 58100}, false, {::geteuid(), ::getegid(), {}}) {
    std::string pattern = "/tmp/croft-data-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
  }
  ~DataDirectoryTest() override { fs::remove_all(root_); }

  fs::path root_;
  Identities identities_;
};

TEST_F(DataDirectoryTest, MakesWhatIsMissingAndKeepsWhatIsThere) {
  const std::string path = root_ / "a/b";
  ASSERT_TRUE(DataDirectory::Prepare(path, identities_).ok());
  std::ofstream(path + "/replica/kept") << "x";
  ASSERT_TRUE(DataDirectory::Prepare(path, identities_).ok());
  for (const char* part : {"identity", "replica", "log", "run", "run/w", "replica/kept"}) {
    EXPECT_TRUE(fs::exists(path + "/" + part)) << part;
  }
}

TEST_F(DataDirectoryTest, RefusesAPathInWhichNoSocketFits) {
  const std::string most = root_.string() + "/" + std::string(84 - root_.string().size(), 'd');
  const auto fits = DataDirectory::Prepare(most, identities_);
  ASSERT_TRUE(fits.ok()) << fits.status();
  const auto socket = fits->ListenForWorker(9'999'999'999);
  EXPECT_TRUE(socket.ok()) << socket.status();
  const auto refused = DataDirectory::Prepare(most + "d", identities_);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("at most 85"));
}

TEST_F(DataDirectoryTest, IsOneLaunchersAtATime) {
  const std::string path = root_ / "d";
  {
    const auto first = DataDirectory::Prepare(path, identities_);
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_EQ(DataDirectory::Prepare(path, identities_).status().code(),
              absl::StatusCode::kUnavailable);
  }
  EXPECT_TRUE(DataDirectory::Prepare(path, identities_).ok());
}

TEST_F(DataDirectoryTest, SocketsTakeConnectionsAndGo) {
  const auto directory = DataDirectory::Prepare(root_ / "d", identities_);
  ASSERT_TRUE(directory.ok()) << directory.status();
  const auto listening = directory->ListenForWorker(7);
  ASSERT_TRUE(listening.ok()) << listening.status();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, directory->SocketPath(7).c_str(), sizeof(address.sun_path) - 1);
  const UniqueFd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  directory->RemoveSocket(7);
  EXPECT_FALSE(fs::exists(directory->SocketPath(7)));
}

TEST_F(DataDirectoryTest, RemovesTheSocketsOfAKilledLauncher) {
  const std::string path = root_ / "d";
  std::string left;
  {
    const auto directory = DataDirectory::Prepare(path, identities_);
    ASSERT_TRUE(directory.ok() && directory->ListenForWorker(3).ok());
    left = directory->SocketPath(3);
  }
  EXPECT_TRUE(fs::exists(left));
  const auto next = DataDirectory::Prepare(path, identities_);
  ASSERT_TRUE(next.ok());
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(next->ListenForWorker(3).ok());
}

TEST_F(DataDirectoryTest, FollowsNoLinkThatSomebodyPutInItsPlace) {
  const std::string path = root_ / "d";
  fs::create_directories(path);
  fs::create_directory(root_ / "elsewhere");
  fs::create_directory_symlink(root_ / "elsewhere", path + "/replica");
  EXPECT_FALSE(DataDirectory::Prepare(path, identities_).ok());
}

}  // namespace
}  // namespace croft::node::launcher
