#include "control/identity/tokens.h"

#include <absl/strings/escaping.h>
#include <openssl/sha.h>

#include "proto/base/random.h"

namespace croft::control::identity {
namespace {

constexpr int kTokenBytes = 32;

}  // namespace

std::string MakeOperatorToken() {
  return "croft_" + absl::WebSafeBase64Escape(absl::HexStringToBytes(RandomHex(kTokenBytes)));
}
std::string MakeJoinToken() { return "croft_join_" + RandomHex(kTokenBytes); }

std::string HashToken(std::string_view token) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace croft::control::identity
