#include "control/identity/authority.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>

#include "control/identity/operator_access.h"
#include "tests/unit/control/store/fake_store.h"

namespace croft::control::identity {
namespace {

class AuthorityTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/croft-authority-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  SealingKey Key(const std::string& name) {
    return *SealingKey::LoadOrCreate(directory_ + "/" + name);
  }
  std::string TokenInFile() {
    return YAML::LoadFile(directory_ + "/operator.yaml")["contexts"]["local"]["token"]
        .as<std::string>();
  }

  std::string directory_;
  FakeClock clock_;
  store::FakeStore store_;
};

TEST_F(AuthorityTest, EveryInstanceAndEveryStartHasTheSameOne) {
  const auto first = Authority::Open(store_, Key("key"), clock_);
  const auto second = Authority::Open(store_, Key("key"), clock_);
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  EXPECT_EQ(first->certificate(), second->certificate());
  const std::vector<std::string> hosts = {"localhost"};
  EXPECT_TRUE(second->IssueServer(hosts).ok());
}

TEST_F(AuthorityTest, InstanceWithAnotherKeyFileIsToldWhatToDo) {
  ASSERT_TRUE(Authority::Open(store_, Key("key"), clock_).ok());
  const auto refused = Authority::Open(store_, Key("other"), clock_);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(refused.status().ToString().find("--key-file"), std::string::npos);
}

TEST_F(AuthorityTest, OperatorsTokenStaysAsLongAsItIsGood) {
  OperatorAccess access{.data_dir = directory_, .address = "127.0.0.1:1", .ca = "PEM\n"};
  std::string good = "one";
  const auto keep = [&good](const std::string& token) { return token == good ? token : good; };
  ASSERT_TRUE(WriteOperatorAccess(access, keep).ok());
  const std::string token = TokenInFile();
  EXPECT_EQ(token, "one");
  access.address = "127.0.0.1:2";
  ASSERT_TRUE(WriteOperatorAccess(access, keep).ok());
  EXPECT_EQ(TokenInFile(), token);
  const YAML::Node context = YAML::LoadFile(directory_ + "/operator.yaml")["contexts"]["local"];
  EXPECT_EQ(context["control"].as<std::string>(), "127.0.0.1:2");
  EXPECT_EQ(context["ca"].as<std::string>(), "PEM\n");
  struct stat about {};
  ASSERT_EQ(::stat((directory_ + "/operator.yaml").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600U);
  good = "two";
  ASSERT_TRUE(WriteOperatorAccess(access, keep).ok());
  EXPECT_EQ(TokenInFile(), "two");
}

}  // namespace
}  // namespace croft::control::identity
