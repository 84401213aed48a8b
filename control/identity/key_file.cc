#include "control/identity/key_file.h"

#include <fcntl.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "control/identity/file.h"
#include "control/identity/openssl_ptr.h"
#include "proto/base/error.h"
#include "proto/base/random.h"
#include "proto/base/unique_fd.h"

namespace croft::control::identity {
namespace {

// Format of a sealed secret: version (1 byte), nonce, ciphertext, tag.
constexpr char kVersion = 1;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kOverhead = 1 + kNonceBytes + kTagBytes;

unsigned char* Bytes(std::string& text, std::size_t at) {
  return reinterpret_cast<unsigned char*>(text.data() + at);
}

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

absl::Status CheckPrivate(int fd, const std::string& path) {
  struct stat about {};
  if (::fstat(fd, &about) != 0) {
    return ErrnoError("key file {}", path);
  }
  if (!S_ISREG(about.st_mode)) {
    return Error(absl::StatusCode::kFailedPrecondition, "key file {} is not a regular file", path);
  }
  if ((about.st_mode & 077) != 0) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "key file {} can be read by others (mode {:04o}); run: chmod 0600 {}", path,
                 about.st_mode & 07777, path);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SealingKey> SealingKey::LoadOrCreate(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd && errno == ENOENT) {
    // Several instances may start at once on one file: the link that comes first wins.
    const absl::Status made = CreateFileOnce(path, RandomHex(kKeyBytes) + "\n", 0600);
    if (!made.ok() && !absl::IsAlreadyExists(made)) {
      return made;
    }
    fd.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  }
  if (!fd) {
    return ErrnoError("key file {}", path);
  }
  if (absl::Status status = CheckPrivate(fd.get(), path); !status.ok()) {
    return status;
  }
  char text[2 * kKeyBytes + 2];
  const ssize_t got = ::read(fd.get(), text, sizeof text);
  const bool sized =
      got == 2 * kKeyBytes || (got == 2 * kKeyBytes + 1 && text[2 * kKeyBytes] == '\n');
  Key key{};
  bool valid = sized;
  for (std::size_t i = 0; valid && i < kKeyBytes; ++i) {
    const int high = HexDigit(text[2 * i]);
    const int low = HexDigit(text[2 * i + 1]);
    valid = high >= 0 && low >= 0;
    key[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  if (!valid) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "key file {} must hold {} lower-case hexadecimal digits on one line", path,
                 2 * kKeyBytes);
  }
  return SealingKey(key, path);
}

absl::StatusOr<std::string> SealingKey::Seal(std::string_view name, std::string_view secret) const {
  std::string sealed(kOverhead + secret.size(), '\0');
  sealed[0] = kVersion;
  const CipherPtr cipher(EVP_CIPHER_CTX_new());
  int size = 0;
  const bool done =
      RAND_bytes(Bytes(sealed, 1), kNonceBytes) == 1 && cipher != nullptr &&
      EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key_.data(), Bytes(sealed, 1)) ==
          1 &&
      EVP_EncryptUpdate(cipher.get(), nullptr, &size, Bytes(name), static_cast<int>(name.size())) ==
          1 &&
      EVP_EncryptUpdate(cipher.get(), Bytes(sealed, 1 + kNonceBytes), &size, Bytes(secret),
                        static_cast<int>(secret.size())) == 1 &&
      EVP_EncryptFinal_ex(cipher.get(), Bytes(sealed, sealed.size() - kTagBytes), &size) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes,
                          Bytes(sealed, sealed.size() - kTagBytes)) == 1;
  if (!done) {
    return OpensslError("seal a secret");
  }
  return sealed;
}

absl::StatusOr<std::string> SealingKey::Unseal(std::string_view name,
                                               std::string_view sealed) const {
  if (sealed.size() < kOverhead || sealed[0] != kVersion) {
    return Error(
        absl::StatusCode::kFailedPrecondition,
        "secret \"{}\" in the database is not in a form this version of croft-control knows", name);
  }
  std::string tag(sealed.substr(sealed.size() - kTagBytes));
  const std::string_view text = sealed.substr(1 + kNonceBytes, sealed.size() - kOverhead);
  std::string secret(text.size(), '\0');
  const CipherPtr cipher(EVP_CIPHER_CTX_new());
  int size = 0;
  const bool done =
      cipher != nullptr &&
      EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key_.data(),
                         Bytes(sealed) + 1) == 1 &&
      EVP_DecryptUpdate(cipher.get(), nullptr, &size, Bytes(name), static_cast<int>(name.size())) ==
          1 &&
      EVP_DecryptUpdate(cipher.get(), Bytes(secret, 0), &size, Bytes(text),
                        static_cast<int>(text.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(cipher.get(), Bytes(tag, 0), &size) == 1;
  if (!done) {
    ERR_clear_error();
    return Error(
        absl::StatusCode::kFailedPrecondition,
        "secret \"{}\" in the database was sealed with another key than {}: give this instance the "
        "key file of the first one (--key-file)",
        name, path_);
  }
  return secret;
}

}  // namespace croft::control::identity
