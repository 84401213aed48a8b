#include "control/identity/key_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "control/identity/tokens.h"

namespace croft::control::identity {
namespace {

class KeyFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/croft-key-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    path_ = name + "/key";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void Write(const std::string& content, mode_t mode) {
    std::ofstream(path_) << content;
    ::chmod(path_.c_str(), mode);
  }

  std::string directory_;
  std::string path_;
};

TEST_F(KeyFile, IsMadeOnceReadableByItsOwnerOnly) {
  const auto first = SealingKey::LoadOrCreate(path_);
  ASSERT_TRUE(first.ok()) << first.status();
  struct stat about {};
  ASSERT_EQ(::stat(path_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0600U);
  const auto second = SealingKey::LoadOrCreate(path_);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(*second->Unseal("a", *first->Seal("a", "secret")), "secret");
}

TEST_F(KeyFile, IsRefusedWhenOthersCanReadItOrItHoldsNoKey) {
  struct Case {
    std::string content;
    mode_t mode;
  };
  const std::string good(64, 'a');
  const Case cases[] = {{good, 0640},        {good, 0604},           {"", 0600},
                        {good + "aa", 0600}, {good.substr(2), 0600}, {std::string(64, 'g'), 0600}};
  for (const Case& c : cases) {
    Write(c.content, c.mode);
    EXPECT_EQ(SealingKey::LoadOrCreate(path_).status().code(),
              absl::StatusCode::kFailedPrecondition)
        << c.content;
  }
}

TEST_F(KeyFile, SealedSecretOpensOnlyWholeUnderItsNameAndKey) {
  const auto key = SealingKey::LoadOrCreate(path_);
  const auto other = SealingKey::LoadOrCreate(directory_ + "/other");
  ASSERT_TRUE(key.ok() && other.ok());
  const std::string sealed = *key->Seal("ca", "secret");
  EXPECT_EQ(*key->Unseal("ca", sealed), "secret");
  EXPECT_EQ(sealed.find("secret"), std::string::npos);
  EXPECT_NE(sealed, *key->Seal("ca", "secret"));
  EXPECT_FALSE(key->Unseal("other", sealed).ok());
  EXPECT_FALSE(other->Unseal("ca", sealed).ok());
  EXPECT_FALSE(key->Unseal("ca", sealed.substr(0, 8)).ok());
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string damaged = sealed;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(key->Unseal("ca", damaged).ok()) << i;
  }
}

TEST(Tokens, AreUniqueAndHashedTheSameEachTime) {
  const std::string token = MakeOperatorToken();
  EXPECT_NE(token, MakeOperatorToken());
  EXPECT_NE(MakeJoinToken(), MakeJoinToken());
  EXPECT_EQ(HashToken("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(HashToken(token).find(token), std::string::npos);
}

}  // namespace
}  // namespace croft::control::identity
