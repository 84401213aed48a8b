#include "node/agent/identity.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>

namespace croft::node::agent {
namespace {

namespace fs = std::filesystem;

// A certificate that `key` signed for itself.
std::string SelfSigned(const std::string& key_pem, long lifetime_s) {
  BIO* in = BIO_new_mem_buf(key_pem.data(), static_cast<int>(key_pem.size()));
  EVP_PKEY* key = PEM_read_bio_PrivateKey(in, nullptr, nullptr, nullptr);
  X509* certificate = X509_new();
  X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate), lifetime_s);
  X509_set_pubkey(certificate, key);
  X509_sign(certificate, key, EVP_sha256());
  BIO* out = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(out, certificate);
  char* text = nullptr;
  const auto size = BIO_get_mem_data(out, &text);
  std::string pem(text, static_cast<std::size_t>(size));
  BIO_free(out);
  BIO_free(in);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return pem;
}

Identity AnIdentity() {
  const std::string key = MakeKeyRequest()->key;
  return {.key = key,
          .certificate = SelfSigned(key, 3600),
          .ca = "ca",
          .node = "farms/main/nodes/web1",
          .expires = {}};
}

class IdentityStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/croft-identity-XXXXXX";
    directory_ = ::mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string directory_;
};

TEST_F(IdentityStoreTest, HasNothingBeforeEnrolment) {
  const auto loaded = IdentityStore(directory_ + "/identity").Load();
  ASSERT_TRUE(loaded.ok());
  EXPECT_FALSE(loaded->has_value());
}

TEST_F(IdentityStoreTest, GivesBackWhatWasStored) {
  const IdentityStore store(directory_ + "/identity");
  const Identity identity = AnIdentity();
  ASSERT_TRUE(store.Store(identity).ok());
  const auto loaded = store.Load();
  ASSERT_TRUE(loaded.ok() && loaded->has_value()) << loaded.status();
  EXPECT_EQ((*loaded)->key, identity.key);
  EXPECT_EQ((*loaded)->node, identity.node);
  EXPECT_GT((*loaded)->expires, std::chrono::system_clock::now());
}

TEST_F(IdentityStoreTest, KeepsTheKeyFromOthers) {
  const IdentityStore store(directory_ + "/identity");
  ASSERT_TRUE(store.Store(AnIdentity()).ok());
  struct stat status {};
  ASSERT_EQ(::stat((directory_ + "/identity/current/key.pem").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
}

TEST_F(IdentityStoreTest, ReplacesThePairAsAWhole) {
  const IdentityStore store(directory_ + "/identity");
  ASSERT_TRUE(store.Store(AnIdentity()).ok());
  const Identity second = AnIdentity();
  ASSERT_TRUE(store.Store(second).ok());
  EXPECT_EQ((**store.Load()).key, second.key);
  EXPECT_EQ(fs::read_symlink(directory_ + "/identity/current"), "pair.2");
  EXPECT_FALSE(fs::exists(directory_ + "/identity/pair.1"));
}

TEST_F(IdentityStoreTest, RefusesAKeyBesideAnotherKeysCertificate) {
  const IdentityStore store(directory_ + "/identity");
  Identity identity = AnIdentity();
  ASSERT_TRUE(store.Store(identity).ok());
  const std::string before = identity.key;
  identity.key = MakeKeyRequest()->key;
  EXPECT_FALSE(store.Store(identity).ok());
  EXPECT_EQ((**store.Load()).key, before);
}

}  // namespace
}  // namespace croft::node::agent
