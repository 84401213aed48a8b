// X.509 for control: its certificate authority, its own server certificate, and nodes' client
// certificates. Pure but for randomness; no OpenSSL in this header. Certificates begin a year
// before they are made, so that a clock that is behind trusts them too.
#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace croft::control::identity {

using Time = std::chrono::system_clock::time_point;

inline constexpr std::chrono::hours kBackdated{24 * 365};
inline constexpr std::chrono::hours kAuthorityLife{24 * 365 * 30};
// Made anew at each start.
inline constexpr std::chrono::hours kServerLife{24 * 365 * 5};
// What ends a node's certificate is the node's deletion.
inline constexpr std::chrono::hours kNodeLife{24 * 365 * 5};
inline constexpr std::size_t kSigningRequestBytesMax = 16 * 1024;

// Both PEM.
struct CertifiedKey {
  std::string certificate;
  std::string key;
};

absl::StatusOr<CertifiedKey> MakeAuthority(Time now);

// For serverAuth; `hosts` are names and addresses, which become its subject alternative names.
absl::StatusOr<CertifiedKey> IssueServerCertificate(const CertifiedKey& authority,
                                                    std::span<const std::string> hosts, Time now);

// Parses a PKCS#10 request (PEM, untrusted), verifies that it is signed by the key it names and
// that the key is a strong one. Returns the public key (DER SubjectPublicKeyInfo), the only thing
// taken from it. invalid_argument otherwise.
absl::StatusOr<std::string> ParseSigningRequest(std::string_view pem);

struct NodeSubject {
  std::string name;  // "farms/main/nodes/web1"
  std::int64_t uid = 0;
};

// PEM, for clientAuth only, with the URIs NodeUris().
absl::StatusOr<std::string> IssueNodeCertificate(const CertifiedKey& authority,
                                                 const NodeSubject& node,
                                                 std::string_view public_key, Time now);

// "croft://farms/main/nodes/web1", and the uid, so that a certificate does not serve for a later
// node of the same name: "croft://node-uid/12".
std::string NodeUri(std::string_view node_name);
std::string NodeUidUri(std::int64_t uid);
// The node a verified certificate's URIs name; permission_denied when they are not a node's.
absl::StatusOr<NodeSubject> NodeOfUris(std::span<const std::string> uris);

}  // namespace croft::control::identity
