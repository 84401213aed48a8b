#include "control/identity/authority.h"

#include <utility>

#include "proto/base/error.h"

namespace croft::control::identity {
namespace {

constexpr std::string_view kKeyStart = "-----BEGIN PRIVATE KEY-----";

}  // namespace

absl::StatusOr<Authority> Authority::Open(store::Store& store, const SealingKey& key,
                                          const Clock& clock) {
  // A new one is made each time and thrown away when the store already has one: two instances that
  // start at once agree.
  const auto made = MakeAuthority(clock.Now());
  if (!made.ok()) {
    return made.status();
  }
  const auto sealed = key.Seal(kAuthoritySecret, made->certificate + made->key);
  if (!sealed.ok()) {
    return sealed.status();
  }
  const auto kept = store.PutSecretIfAbsent(kAuthoritySecret, *sealed);
  if (!kept.ok()) {
    return kept.status();
  }
  auto opened = key.Unseal(kAuthoritySecret, *kept);
  if (!opened.ok()) {
    return opened.status();
  }
  const std::size_t at = opened->find(kKeyStart);
  if (at == std::string::npos) {
    return Error(absl::StatusCode::kDataLoss, "secret \"{}\" in the database holds no key",
                 kAuthoritySecret);
  }
  return Authority(CertifiedKey{.certificate = opened->substr(0, at), .key = opened->substr(at)},
                   clock);
}

absl::StatusOr<CertifiedKey> Authority::IssueServer(std::span<const std::string> hosts) const {
  return IssueServerCertificate(authority_, hosts, clock_->Now());
}

absl::StatusOr<std::string> Authority::IssueNode(const NodeSubject& node,
                                                 std::string_view public_key) const {
  return IssueNodeCertificate(authority_, node, public_key, clock_->Now());
}

}  // namespace croft::control::identity
