// Control's certificate authority: made at the first start of the first instance, kept sealed in
// the store, the same in every instance. Constant after construction; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <span>
#include <string>
#include <string_view>

#include "control/identity/certificates.h"
#include "control/identity/key_file.h"
#include "control/store/store.h"
#include "proto/base/clock.h"

namespace croft::control::identity {

// The name under which the store keeps it, sealed.
inline constexpr std::string_view kAuthoritySecret = "certificate-authority";

class Authority {
 public:
  // Blocks on the store.
  static absl::StatusOr<Authority> Open(store::Store& store, const SealingKey& key,
                                        const Clock& clock);

  // PEM; what clients and nodes trust.
  const std::string& certificate() const { return authority_.certificate; }
  absl::StatusOr<CertifiedKey> IssueServer(std::span<const std::string> hosts) const;
  // `public_key` comes from ParseSigningRequest.
  absl::StatusOr<std::string> IssueNode(const NodeSubject& node, std::string_view public_key) const;

 private:
  Authority(CertifiedKey authority, const Clock& clock)
      : authority_(std::move(authority)), clock_(&clock) {}

  CertifiedKey authority_;
  const Clock* clock_;
};

}  // namespace croft::control::identity
