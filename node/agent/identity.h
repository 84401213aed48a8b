// The node's credentials on disk: DIR/pair.N/{key.pem, certificate.pem, ca.pem, node}, and
// DIR/current -> pair.N, which is flipped as a whole: a key beside another key's certificate would
// fail every handshake. Any thread.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <optional>
#include <string>

namespace croft::node::agent {

struct Identity {
  std::string key;          // PEM
  std::string certificate;  // PEM chain, leaf first
  std::string ca;           // PEM, what control's certificate must come from
  std::string node;         // "farms/main/nodes/web1"
  std::chrono::system_clock::time_point expires;  // of the certificate; the epoch: not known
};

class IdentityStore {
 public:
  explicit IdentityStore(std::string directory) : directory_(std::move(directory)) {}

  // nullopt when the node has never enrolled; an error when what is there cannot be used.
  absl::StatusOr<std::optional<Identity>> Load() const;
  // Checks that key and certificate belong together, writes the pair (0600) durably, then flips
  // `current`. Earlier pairs are removed.
  absl::Status Store(const Identity& identity) const;

 private:
  std::string directory_;
};

// A fresh EC P-256 key and a PKCS#10 request for it; control decides the name, so the request has
// none.
struct KeyRequest {
  std::string key;                  // PEM
  std::string certificate_request;  // PEM
};
absl::StatusOr<KeyRequest> MakeKeyRequest();

}  // namespace croft::node::agent
