// Owners for OpenSSL's objects, and its error queue as a Status. For the .cc files of
// control/identity only.
#pragma once

#include <absl/status/status.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>

#include "proto/base/error.h"
#include "proto/base/freed_by.h"

namespace croft::control::identity {

using BignumPtr = std::unique_ptr<BIGNUM, FreedBy<BN_free>>;
using BioPtr = std::unique_ptr<BIO, FreedBy<BIO_free_all>>;
using CipherPtr = std::unique_ptr<EVP_CIPHER_CTX, FreedBy<EVP_CIPHER_CTX_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, FreedBy<X509_EXTENSION_free>>;
using GeneralNamePtr = std::unique_ptr<GENERAL_NAME, FreedBy<GENERAL_NAME_free>>;
using GeneralNamesPtr = std::unique_ptr<GENERAL_NAMES, FreedBy<GENERAL_NAMES_free>>;
using Ia5Ptr = std::unique_ptr<ASN1_IA5STRING, FreedBy<ASN1_IA5STRING_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;
using OctetsPtr = std::unique_ptr<ASN1_OCTET_STRING, FreedBy<ASN1_OCTET_STRING_free>>;
using RequestPtr = std::unique_ptr<X509_REQ, FreedBy<X509_REQ_free>>;
using X509Ptr = std::unique_ptr<X509, FreedBy<X509_free>>;

// Takes the newest error off this thread's queue and empties it.
inline absl::Status OpensslError(std::string_view what) {
  char text[256] = "no reason given";
  const unsigned long code = ERR_peek_last_error();
  if (code != 0) {
    ERR_error_string_n(code, text, sizeof text);
  }
  ERR_clear_error();
  return Error(absl::StatusCode::kInternal, "{}: {}", what, text);
}

inline BioPtr ReadBio(std::string_view bytes) {
  return BioPtr(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

inline std::string TakeBytes(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return size <= 0 ? std::string() : std::string(data, static_cast<std::size_t>(size));
}

}  // namespace croft::control::identity
