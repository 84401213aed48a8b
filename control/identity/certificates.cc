#include "control/identity/certificates.h"

#include <charconv>
#include <utility>
#include <vector>

#include "control/identity/openssl_ptr.h"
#include "proto/base/error.h"

namespace croft::control::identity {
namespace {

constexpr std::string_view kNamePrefix = "croft://";
constexpr std::string_view kUidPrefix = "croft://node-uid/";

struct Certificate {
  std::string common_name;
  std::chrono::hours life{};
  std::vector<std::pair<int, const char*>> extensions;  // NID and OpenSSL's text form
  GeneralNamesPtr names;
};

absl::Status SetSerial(X509* certificate) {
  const BignumPtr number(BN_new());
  if (number == nullptr || BN_rand(number.get(), 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) != 1 ||
      BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) == nullptr) {
    return OpensslError("draw a serial number");
  }
  return absl::OkStatus();
}

absl::Status AddExtensions(X509* issuer, X509* certificate, const Certificate& wanted) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  for (const auto& [nid, value] : wanted.extensions) {
    const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
    if (extension == nullptr || X509_add_ext(certificate, extension.get(), -1) != 1) {
      return OpensslError("add a certificate extension");
    }
  }
  if (wanted.names != nullptr && X509_add1_ext_i2d(certificate, NID_subject_alt_name,
                                                   wanted.names.get(), 0, X509V3_ADD_APPEND) != 1) {
    return OpensslError("add the certificate's names");
  }
  return absl::OkStatus();
}

struct Signer {
  X509* certificate = nullptr;  // null: self-signed
  EVP_PKEY* key = nullptr;
};

// REQUIRES: `public_key` is the certificate's, `signer.key` the issuer's.
absl::StatusOr<std::string> Sign(const Certificate& wanted, EVP_PKEY* public_key,
                                 const Signer& signer, Time now) {
  const X509Ptr made(X509_new());
  if (made == nullptr || X509_set_version(made.get(), X509_VERSION_3) != 1 ||
      X509_set_pubkey(made.get(), public_key) != 1) {
    return OpensslError("make a certificate");
  }
  if (absl::Status status = SetSerial(made.get()); !status.ok()) {
    return status;
  }
  X509_NAME* subject = X509_get_subject_name(made.get());
  const auto* name = reinterpret_cast<const unsigned char*>(wanted.common_name.data());
  const auto from = std::chrono::system_clock::to_time_t(now - kBackdated);
  const auto until = std::chrono::system_clock::to_time_t(now + wanted.life);
  X509* issuer = signer.certificate == nullptr ? made.get() : signer.certificate;
  if (X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8, name,
                                 static_cast<int>(wanted.common_name.size()), -1, 0) != 1 ||
      X509_set_issuer_name(made.get(), X509_get_subject_name(issuer)) != 1 ||
      ASN1_TIME_set(X509_getm_notBefore(made.get()), from) == nullptr ||
      ASN1_TIME_set(X509_getm_notAfter(made.get()), until) == nullptr) {
    return OpensslError("fill in a certificate");
  }
  if (absl::Status status = AddExtensions(issuer, made.get(), wanted); !status.ok()) {
    return status;
  }
  const BioPtr pem(BIO_new(BIO_s_mem()));
  if (X509_sign(made.get(), signer.key, EVP_sha256()) == 0 || pem == nullptr ||
      PEM_write_bio_X509(pem.get(), made.get()) != 1) {
    return OpensslError("sign a certificate");
  }
  return TakeBytes(pem.get());
}

absl::StatusOr<std::string> WriteKey(EVP_PKEY* key) {
  const BioPtr pem(BIO_new(BIO_s_mem()));
  if (pem == nullptr ||
      PEM_write_bio_PrivateKey(pem.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return OpensslError("write a key");
  }
  return TakeBytes(pem.get());
}

struct LoadedAuthority {
  X509Ptr certificate;
  KeyPtr key;
  Signer signer() const { return {.certificate = certificate.get(), .key = key.get()}; }
};

absl::StatusOr<LoadedAuthority> Load(const CertifiedKey& authority) {
  LoadedAuthority loaded;
  loaded.certificate.reset(
      PEM_read_bio_X509(ReadBio(authority.certificate).get(), nullptr, nullptr, nullptr));
  loaded.key.reset(
      PEM_read_bio_PrivateKey(ReadBio(authority.key).get(), nullptr, nullptr, nullptr));
  if (loaded.certificate == nullptr || loaded.key == nullptr) {
    return OpensslError("read the certificate authority");
  }
  return loaded;
}

absl::Status AddText(GENERAL_NAMES* names, int type, std::string_view text) {
  Ia5Ptr value(ASN1_IA5STRING_new());
  GeneralNamePtr name(GENERAL_NAME_new());
  if (value == nullptr || name == nullptr ||
      ASN1_STRING_set(value.get(), text.data(), static_cast<int>(text.size())) != 1) {
    return OpensslError("make a certificate's name");
  }
  GENERAL_NAME_set0_value(name.get(), type, value.release());
  if (sk_GENERAL_NAME_push(names, name.get()) <= 0) {
    return OpensslError("make a certificate's name");
  }
  static_cast<void>(name.release());  // the stack's now
  return absl::OkStatus();
}

absl::Status AddHost(GENERAL_NAMES* names, const std::string& host) {
  OctetsPtr address(a2i_IPADDRESS(host.c_str()));
  if (address == nullptr) {
    ERR_clear_error();
    return AddText(names, GEN_DNS, host);
  }
  GeneralNamePtr name(GENERAL_NAME_new());
  if (name == nullptr) {
    return OpensslError("make a certificate's name");
  }
  GENERAL_NAME_set0_value(name.get(), GEN_IPADD, address.release());
  if (sk_GENERAL_NAME_push(names, name.get()) <= 0) {
    return OpensslError("make a certificate's name");
  }
  static_cast<void>(name.release());
  return absl::OkStatus();
}

bool IsStrong(const EVP_PKEY* key) {
  switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_EC:
      return EVP_PKEY_get_bits(key) >= 256;
    case EVP_PKEY_ED25519:
      return true;
    case EVP_PKEY_RSA:
      return EVP_PKEY_get_bits(key) >= 2048 && EVP_PKEY_get_bits(key) <= 8192;
    default:
      return false;
  }
}

}  // namespace

absl::StatusOr<CertifiedKey> MakeAuthority(Time now) {
  const KeyPtr key(EVP_EC_gen("P-256"));
  if (key == nullptr) {
    return OpensslError("make a key");
  }
  Certificate wanted{.common_name = "Croft control authority",
                     .life = kAuthorityLife,
                     .extensions = {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                                    {NID_key_usage, "critical,keyCertSign,cRLSign"},
                                    {NID_subject_key_identifier, "hash"}},
                     .names = nullptr};
  const auto certificate = Sign(wanted, key.get(), {.certificate = nullptr, .key = key.get()}, now);
  const auto text = WriteKey(key.get());
  if (!certificate.ok() || !text.ok()) {
    return certificate.ok() ? text.status() : certificate.status();
  }
  return CertifiedKey{.certificate = *certificate, .key = *text};
}

absl::StatusOr<CertifiedKey> IssueServerCertificate(const CertifiedKey& authority,
                                                    std::span<const std::string> hosts, Time now) {
  const auto loaded = Load(authority);
  if (!loaded.ok()) {
    return loaded.status();
  }
  const KeyPtr key(EVP_EC_gen("P-256"));
  Certificate wanted{.common_name = "Croft control",
                     .life = kServerLife,
                     .extensions = {{NID_basic_constraints, "critical,CA:FALSE"},
                                    {NID_key_usage, "critical,digitalSignature"},
                                    {NID_ext_key_usage, "serverAuth"},
                                    {NID_authority_key_identifier, "keyid"}},
                     .names = GeneralNamesPtr(GENERAL_NAMES_new())};
  if (key == nullptr || wanted.names == nullptr) {
    return OpensslError("make a key");
  }
  for (const std::string& host : hosts) {
    if (absl::Status status = AddHost(wanted.names.get(), host); !status.ok()) {
      return status;
    }
  }
  const auto certificate = Sign(wanted, key.get(), loaded->signer(), now);
  const auto text = WriteKey(key.get());
  if (!certificate.ok() || !text.ok()) {
    return certificate.ok() ? text.status() : certificate.status();
  }
  return CertifiedKey{.certificate = *certificate, .key = *text};
}

absl::StatusOr<std::string> ParseSigningRequest(std::string_view pem) {
  if (pem.size() > kSigningRequestBytesMax) {
    return Error(absl::StatusCode::kInvalidArgument, "certificate request is larger than {} bytes",
                 kSigningRequestBytesMax);
  }
  const RequestPtr request(PEM_read_bio_X509_REQ(ReadBio(pem).get(), nullptr, nullptr, nullptr));
  EVP_PKEY* key = request == nullptr ? nullptr : X509_REQ_get0_pubkey(request.get());
  if (key == nullptr) {
    ERR_clear_error();
    return Error(absl::StatusCode::kInvalidArgument,
                 "certificate request is not a PKCS#10 request in PEM");
  }
  if (!IsStrong(key)) {
    return Error(
        absl::StatusCode::kInvalidArgument,
        "certificate request has a weak or unknown key; use EC P-256, Ed25519 or RSA of 2048 bits");
  }
  if (X509_REQ_verify(request.get(), key) != 1) {
    ERR_clear_error();
    return Error(absl::StatusCode::kInvalidArgument,
                 "certificate request is not signed by the key it names");
  }
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key, &der);
  if (size <= 0) {
    return OpensslError("read a public key");
  }
  std::string bytes(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return bytes;
}

absl::StatusOr<std::string> IssueNodeCertificate(const CertifiedKey& authority,
                                                 const NodeSubject& node,
                                                 std::string_view public_key, Time now) {
  const auto loaded = Load(authority);
  if (!loaded.ok()) {
    return loaded.status();
  }
  const auto* der = reinterpret_cast<const unsigned char*>(public_key.data());
  const KeyPtr key(d2i_PUBKEY(nullptr, &der, static_cast<long>(public_key.size())));
  Certificate wanted{.common_name = node.name.substr(node.name.rfind('/') + 1),
                     .life = kNodeLife,
                     .extensions = {{NID_basic_constraints, "critical,CA:FALSE"},
                                    {NID_key_usage, "critical,digitalSignature"},
                                    {NID_ext_key_usage, "critical,clientAuth"},
                                    {NID_authority_key_identifier, "keyid"}},
                     .names = GeneralNamesPtr(GENERAL_NAMES_new())};
  if (key == nullptr || wanted.names == nullptr) {
    return OpensslError("read a public key");
  }
  for (const std::string& uri : {NodeUri(node.name), NodeUidUri(node.uid)}) {
    if (absl::Status status = AddText(wanted.names.get(), GEN_URI, uri); !status.ok()) {
      return status;
    }
  }
  return Sign(wanted, key.get(), loaded->signer(), now);
}

std::string NodeUri(std::string_view node_name) {
  return std::string(kNamePrefix).append(node_name);
}

std::string NodeUidUri(std::int64_t uid) { return std::string(kUidPrefix) + std::to_string(uid); }

absl::StatusOr<NodeSubject> NodeOfUris(std::span<const std::string> uris) {
  NodeSubject node;
  for (const std::string& uri : uris) {
    const std::string_view text = uri;
    if (text.starts_with(kUidPrefix)) {
      std::from_chars(uri.data() + kUidPrefix.size(), uri.data() + uri.size(), node.uid);
    } else if (text.starts_with(kNamePrefix)) {
      node.name = text.substr(kNamePrefix.size());
    }
  }
  if (node.name.empty() || node.uid <= 0) {
    return Error(absl::StatusCode::kPermissionDenied,
                 "this method is for nodes: connect with a node's client certificate");
  }
  return node;
}

}  // namespace croft::control::identity
