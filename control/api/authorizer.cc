#include "control/api/authorizer.h"

#include <optional>

#include "control/domain/token_rules.h"
#include "control/identity/certificates.h"
#include "control/identity/tokens.h"
#include "proto/base/error.h"

namespace croft::control::api {
namespace {

constexpr std::string_view kBearer = "Bearer ";
// How long a revoked token may still be taken, in exchange for not asking the store at each call.
// With the beat of streams it stays below the second within which a stream has to end.
constexpr std::chrono::milliseconds kRemembered{400};
constexpr std::size_t kKnownMax = 1024;

absl::Status Expired(std::string_view token) {
  return Error(absl::StatusCode::kUnauthenticated,
               "{} has expired; have an administrator make another one (croft create token)",
               token);
}

}  // namespace

absl::StatusOr<Authorizer::Known> Authorizer::LookUp(const std::string& hash) {
  const auto found = store_.FindOperatorToken(hash);
  if (!found.ok()) {
    return found.status();
  }
  if (!found->has_value()) {
    return Error(absl::StatusCode::kUnauthenticated,
                 "the operator token is not valid here: it is another control's, or was revoked; "
                 "check the context's control address and token");
  }
  const auto expires = domain::ExpiryOf((*found)->token_row);
  if (expires <= clock_.Now()) {
    return Expired((*found)->token_row.name);
  }
  auto caller = access_.Identify(**found);
  if (!caller.ok()) {
    return caller.status();
  }
  return Known{
      .caller = *std::move(caller), .expires = expires, .until = clock_.Monotonic() + kRemembered};
}

absl::StatusOr<domain::Caller> Authorizer::GetOperator(const Credentials& credentials) {
  if (credentials.has_certificate) {
    return Error(absl::StatusCode::kPermissionDenied,
                 "this method is for operators; a node's certificate does not open it");
  }
  if (!credentials.authorization.starts_with(kBearer)) {
    return Error(
        absl::StatusCode::kUnauthenticated,
        "no operator token; send it as \"authorization: Bearer TOKEN\" (the first one is in "
        "control's data directory, operator.yaml)");
  }
  const std::string hash = identity::HashToken(credentials.authorization.substr(kBearer.size()));
  {
    auto known = known_.Lock();
    const auto at = known->find(hash);
    if (at != known->end() && at->second.until > clock_.Monotonic()) {
      return at->second.expires > clock_.Now() ? absl::StatusOr<domain::Caller>(at->second.caller)
                                               : Expired("the operator token");
    }
  }
  auto found = LookUp(hash);
  auto known = known_.Lock();
  if (!found.ok()) {
    known->erase(hash);
    return found.status();
  }
  if (known->size() >= kKnownMax) {
    known->clear();
  }
  (*known)[hash] = *found;
  return std::move(found->caller);
}

absl::StatusOr<feed::NodeIdentity> Authorizer::GetNode(const Credentials& credentials) {
  if (!credentials.has_certificate) {
    return Error(absl::StatusCode::kUnauthenticated,
                 "this method is for nodes: connect with a node's client certificate");
  }
  const auto named = identity::NodeOfUris(credentials.uris);
  if (!named.ok()) {
    return named.status();
  }
  const auto found = store_.FindByUid(store::ResourceType::kNode, named->uid);
  if (!found.ok()) {
    return found.status();
  }
  if (!found->has_value() || (*found)->deleted || (*found)->name != named->name) {
    return Error(absl::StatusCode::kPermissionDenied,
                 "{} was deleted; enrol the node again with a join token (croft enroll node)",
                 named->name);
  }
  return feed::NodeIdentity{
      .node_uid = named->uid, .node = named->name, .farm_uid = (*found)->farm_uid};
}

}  // namespace croft::control::api
