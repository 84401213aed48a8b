#include "control/identity/certificates.h"

#include <gtest/gtest.h>
#include <openssl/x509_vfy.h>

#include <vector>

#include "control/identity/openssl_ptr.h"

namespace croft::control::identity {
namespace {

using StorePtr = std::unique_ptr<X509_STORE, FreedBy<X509_STORE_free>>;
using StoreContextPtr = std::unique_ptr<X509_STORE_CTX, FreedBy<X509_STORE_CTX_free>>;

const Time kNow = std::chrono::system_clock::from_time_t(1'800'000'000);
const NodeSubject kNode{.name = "farms/main/nodes/web1", .uid = 12};

X509Ptr Read(std::string_view pem) {
  return X509Ptr(PEM_read_bio_X509(ReadBio(pem).get(), nullptr, nullptr, nullptr));
}

// Whether the certificate is good for `purpose` at `when`, with OpenSSL's reason.
std::string Verify(const CertifiedKey& authority, std::string_view pem, int purpose, Time when) {
  const StorePtr trusted(X509_STORE_new());
  X509_STORE_add_cert(trusted.get(), Read(authority.certificate).get());
  const X509Ptr leaf = Read(pem);
  const StoreContextPtr context(X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), trusted.get(), leaf.get(), nullptr);
  X509_STORE_CTX_set_purpose(context.get(), purpose);
  X509_STORE_CTX_set_time(context.get(), 0, std::chrono::system_clock::to_time_t(when));
  X509_verify_cert(context.get());
  return X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.get()));
}

// A signed request for `key`; `signer` differs to forge one.
std::string MakeRequest(EVP_PKEY* key, EVP_PKEY* signer) {
  const RequestPtr request(X509_REQ_new());
  X509_REQ_set_pubkey(request.get(), key);
  X509_REQ_sign(request.get(), signer, EVP_sha256());
  const BioPtr pem(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509_REQ(pem.get(), request.get());
  return TakeBytes(pem.get());
}

std::vector<std::string> UrisOf(std::string_view pem) {
  const X509Ptr certificate = Read(pem);
  const GeneralNamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> uris;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    const ASN1_STRING* text = name->d.uniformResourceIdentifier;
    if (name->type == GEN_URI) {
      uris.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                        static_cast<std::size_t>(ASN1_STRING_length(text)));
    }
  }
  return uris;
}

std::string IssueNode(const CertifiedKey& authority) {
  const KeyPtr key(EVP_EC_gen("P-256"));
  const auto public_key = ParseSigningRequest(MakeRequest(key.get(), key.get()));
  EXPECT_TRUE(public_key.ok()) << public_key.status();
  const auto pem = IssueNodeCertificate(authority, kNode, *public_key, kNow);
  EXPECT_TRUE(pem.ok()) << pem.status();
  return *pem;
}

TEST(Certificates, ServerCertificateNamesItsHostsAndServesOnlyAsServer) {
  const auto authority = MakeAuthority(kNow);
  ASSERT_TRUE(authority.ok()) << authority.status();
  const std::vector<std::string> hosts = {"localhost", "127.0.0.1", "::1", "control.example"};
  const auto server = IssueServerCertificate(*authority, hosts, kNow);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(Verify(*authority, server->certificate, X509_PURPOSE_SSL_SERVER, kNow), "ok");
  EXPECT_NE(Verify(*authority, server->certificate, X509_PURPOSE_SSL_CLIENT, kNow), "ok");
  const X509Ptr certificate = Read(server->certificate);
  EXPECT_EQ(X509_check_host(certificate.get(), "control.example", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_ip_asc(certificate.get(), "127.0.0.1", 0), 1);
  EXPECT_EQ(X509_check_ip_asc(certificate.get(), "::1", 0), 1);
  EXPECT_EQ(X509_check_host(certificate.get(), "other.example", 0, 0, nullptr), 0);
}

TEST(Certificates, NodeCertificateServesOnlyAsClientAndNamesOneNode) {
  const auto authority = MakeAuthority(kNow);
  const std::string pem = IssueNode(*authority);
  EXPECT_EQ(Verify(*authority, pem, X509_PURPOSE_SSL_CLIENT, kNow), "ok");
  EXPECT_NE(Verify(*authority, pem, X509_PURPOSE_SSL_SERVER, kNow), "ok");
  EXPECT_NE(Verify(*MakeAuthority(kNow), pem, X509_PURPOSE_SSL_CLIENT, kNow), "ok");
  const auto node = NodeOfUris(UrisOf(pem));
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_EQ(node->name, kNode.name);
  EXPECT_EQ(node->uid, kNode.uid);
}

TEST(Certificates, ClockThatJumpsBackHalfAYearStillTrustsThem) {
  const auto authority = MakeAuthority(kNow);
  EXPECT_EQ(
      Verify(*authority, IssueNode(*authority), X509_PURPOSE_SSL_CLIENT, kNow - kBackdated / 2),
      "ok");
}

TEST(Certificates, SigningRequestMustBeSignedByItsOwnStrongKey) {
  const KeyPtr mine(EVP_EC_gen("P-256"));
  const KeyPtr other(EVP_EC_gen("P-256"));
  const KeyPtr weak(EVP_RSA_gen(1024));
  const std::string good = MakeRequest(mine.get(), mine.get());
  EXPECT_TRUE(ParseSigningRequest(good).ok());
  struct Case {
    const char* what;
    std::string pem;
  };
  const Case cases[] = {
      {"empty", ""},
      {"not PEM", "hello"},
      {"truncated", good.substr(0, good.size() / 2)},
      {"signed by another key", MakeRequest(mine.get(), other.get())},
      {"weak key", MakeRequest(weak.get(), weak.get())},
      {"too large", good + std::string(kSigningRequestBytesMax, ' ')},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ParseSigningRequest(c.pem).status().code(), absl::StatusCode::kInvalidArgument)
        << c.what;
  }
}

TEST(Certificates, OnlyBothUrisMakeANode) {
  const std::vector<std::vector<std::string>> refused = {
      {},
      {"croft://farms/main/nodes/web1"},
      {"croft://node-uid/12"},
      {"croft://node-uid/x", "croft://farms/main/nodes/web1"},
      {"https://farms/main/nodes/web1", "croft://node-uid/12"},
  };
  for (const auto& uris : refused) {
    EXPECT_EQ(NodeOfUris(uris).status().code(), absl::StatusCode::kPermissionDenied);
  }
}

}  // namespace
}  // namespace croft::control::identity
