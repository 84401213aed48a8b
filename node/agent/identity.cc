#include "node/agent/identity.h"

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>

#include "proto/base/error.h"
#include "proto/base/freed_by.h"
#include "proto/base/unique_fd.h"

namespace croft::node::agent {
namespace {

namespace fs = std::filesystem;

using BioPtr = std::unique_ptr<BIO, FreedBy<BIO_free_all>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;
using CertificatePtr = std::unique_ptr<X509, FreedBy<X509_free>>;
using RequestPtr = std::unique_ptr<X509_REQ, FreedBy<X509_REQ_free>>;

absl::Status OpensslError(std::string_view what) {
  char text[256] = {};
  ERR_error_string_n(ERR_get_error(), text, sizeof text);
  ERR_clear_error();
  return Error(absl::StatusCode::kInternal, "{}: {}", what, text);
}

BioPtr ReadBio(const std::string& pem) {
  return BioPtr(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

std::string ToString(BIO* bio) {
  char* start = nullptr;
  const auto size = BIO_get_mem_data(bio, &start);
  return std::string(start, static_cast<std::size_t>(size));
}

// The moment the certificate expires, once it is known to be the key's.
absl::StatusOr<std::chrono::system_clock::time_point> CheckPair(const std::string& key_pem,
                                                                const std::string& chain_pem) {
  const KeyPtr key(PEM_read_bio_PrivateKey(ReadBio(key_pem).get(), nullptr, nullptr, nullptr));
  const CertificatePtr leaf(PEM_read_bio_X509(ReadBio(chain_pem).get(), nullptr, nullptr, nullptr));
  if (key == nullptr || leaf == nullptr) {
    return OpensslError("node key or certificate cannot be read");
  }
  if (X509_check_private_key(leaf.get(), key.get()) != 1) {
    return OpensslError("node certificate is not the key's");
  }
  std::tm expires{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(leaf.get()), &expires) != 1) {
    return OpensslError("node certificate has no readable end");
  }
  return std::chrono::system_clock::from_time_t(::timegm(&expires));
}

absl::StatusOr<std::string> ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return ErrnoError("read {}", path.string());
  }
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

absl::Status WriteFile(const fs::path& path, const std::string& text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) {
    return ErrnoError("create {}", path.string());
  }
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::fsync(fd.get()) != 0) {
    return ErrnoError("write {}", path.string());
  }
  return absl::OkStatus();
}

absl::Status SyncDirectory(const fs::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) {
    return ErrnoError("sync {}", path.string());
  }
  return absl::OkStatus();
}

// "pair.N" after the highest there is.
std::string NextPair(const fs::path& directory) {
  long highest = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("pair.")) {
      highest = std::max(highest, std::strtol(name.c_str() + 5, nullptr, 10));
    }
  }
  return fmt::format("pair.{}", highest + 1);
}

absl::Status WritePair(const fs::path& pair, const Identity& identity) {
  if (::mkdir(pair.c_str(), 0700) != 0) {
    return ErrnoError("create {}", pair.string());
  }
  absl::Status status = WriteFile(pair / "key.pem", identity.key);
  status.Update(WriteFile(pair / "certificate.pem", identity.certificate));
  status.Update(WriteFile(pair / "ca.pem", identity.ca));
  status.Update(WriteFile(pair / "node", identity.node));
  status.Update(SyncDirectory(pair));
  return status;
}

absl::Status Flip(const fs::path& directory, const std::string& pair) {
  const fs::path next = directory / "next";
  ::unlink(next.c_str());
  if (::symlink(pair.c_str(), next.c_str()) != 0) {
    return ErrnoError("create {}", next.string());
  }
  if (::rename(next.c_str(), (directory / "current").c_str()) != 0) {
    return ErrnoError("flip {}/current", directory.string());
  }
  return SyncDirectory(directory);
}

void RemoveOthers(const fs::path& directory, const std::string& kept) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("pair.") && name != kept) {
      fs::remove_all(entry.path(), ignored);
    }
  }
}

}  // namespace

absl::StatusOr<std::optional<Identity>> IdentityStore::Load() const {
  // Read through one resolved path, so that a flip in between cannot mix two pairs.
  std::error_code error;
  const fs::path pair = fs::canonical(fs::path(directory_) / "current", error);
  if (error == std::errc::no_such_file_or_directory) {
    return std::nullopt;
  }
  if (error) {
    return Error(absl::StatusCode::kUnavailable, "node identity {}/current: {}", directory_,
                 error.message());
  }
  Identity identity;
  for (const auto& [file, text] :
       {std::pair{"key.pem", &identity.key}, std::pair{"certificate.pem", &identity.certificate},
        std::pair{"ca.pem", &identity.ca}, std::pair{"node", &identity.node}}) {
    absl::StatusOr<std::string> content = ReadFile(pair / file);
    if (!content.ok()) {
      return content.status();
    }
    *text = *std::move(content);
  }
  const auto expires = CheckPair(identity.key, identity.certificate);
  if (!expires.ok()) {
    return expires.status();
  }
  identity.expires = *expires;
  return identity;
}

absl::Status IdentityStore::Store(const Identity& identity) const {
  if (const auto expires = CheckPair(identity.key, identity.certificate); !expires.ok()) {
    return expires.status();
  }
  const fs::path directory(directory_);
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return ErrnoError("create {}", directory_);
  }
  const std::string pair = NextPair(directory);
  absl::Status status = WritePair(directory / pair, identity);
  if (status.ok()) {
    status = Flip(directory, pair);
  }
  if (status.ok()) {
    RemoveOthers(directory, pair);
  }
  return status;
}

absl::StatusOr<KeyRequest> MakeKeyRequest() {
  const KeyPtr key(EVP_EC_gen("P-256"));
  const RequestPtr request(X509_REQ_new());
  if (key == nullptr || request == nullptr || X509_REQ_set_pubkey(request.get(), key.get()) != 1 ||
      X509_REQ_sign(request.get(), key.get(), EVP_sha256()) == 0) {
    return OpensslError("make the node's certificate request");
  }
  const BioPtr key_bio(BIO_new(BIO_s_mem()));
  const BioPtr request_bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PrivateKey(key_bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) !=
          1 ||
      PEM_write_bio_X509_REQ(request_bio.get(), request.get()) != 1) {
    return OpensslError("write the node's certificate request");
  }
  return KeyRequest{.key = ToString(key_bio.get()),
                    .certificate_request = ToString(request_bio.get())};
}

}  // namespace croft::node::agent
