// A certificate request of a stranger: nothing but a clean refusal or a public key that a
// certificate can be issued for.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "control/identity/certificates.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace croft::control::identity;
  static const Time now = std::chrono::system_clock::from_time_t(1'800'000'000);
  static const CertifiedKey authority = *MakeAuthority(now);
  const auto key = ParseSigningRequest(std::string_view(reinterpret_cast<const char*>(data), size));
  if (key.ok() &&
      !IssueNodeCertificate(authority, {.name = "farms/a/nodes/b", .uid = 1}, *key, now).ok()) {
    std::abort();
  }
  return 0;
}
