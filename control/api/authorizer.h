// The one place where it is decided who a caller is and what kind of method it may call: operators
// by bearer token, nodes by client certificate, neither the other's. Blocks on the store;
// thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "control/domain/access.h"
#include "control/feed/feed.h"
#include "control/store/store.h"
#include "proto/base/clock.h"
#include "proto/base/guarded.h"

namespace croft::control::api {

// What a connection and a call bring, as gRPC verified it.
struct Credentials {
  std::string authorization;      // the call's header, "Bearer ..."
  bool has_certificate = false;   // a client certificate of our authority
  std::vector<std::string> uris;  // its URI names
};

class Authorizer {
 public:
  Authorizer(store::Store& store, domain::Access& access, const Clock& clock)
      : store_(store), access_(access), clock_(clock) {}

  // unauthenticated without a valid token, which a revoked or expired one, and one of a disabled
  // operator's, no longer is; permission_denied for a node. Cheap enough to ask at every turn of a
  // stream, and never older than half a second.
  absl::StatusOr<domain::Caller> GetOperator(const Credentials& credentials);
  // unauthenticated without a certificate; permission_denied when it is no live node's.
  absl::StatusOr<feed::NodeIdentity> GetNode(const Credentials& credentials);

 private:
  struct Known {
    domain::Caller caller;
    std::chrono::system_clock::time_point expires;
    std::chrono::steady_clock::time_point until;
  };

  absl::StatusOr<Known> LookUp(const std::string& hash);

  store::Store& store_;
  domain::Access& access_;
  const Clock& clock_;
  Guarded<std::map<std::string, Known>> known_;  // by token hash
};

}  // namespace croft::control::api
