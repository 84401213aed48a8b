#include "control/api/peer.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/server_context.h>

namespace croft::control::api {

Credentials ReadCredentials(const grpc::CallbackServerContext& context) {
  Credentials credentials;
  const auto& metadata = context.client_metadata();
  const auto header = metadata.find("authorization");
  if (header != metadata.end()) {
    credentials.authorization.assign(header->second.data(), header->second.size());
  }
  const auto peer = context.auth_context();
  if (peer == nullptr) {
    return credentials;
  }
  // Only a verified certificate gets this far: any other fails the handshake.
  credentials.has_certificate = !peer->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME).empty();
  for (const grpc::string_ref& uri : peer->FindPropertyValues(GRPC_PEER_URI_PROPERTY_NAME)) {
    credentials.uris.emplace_back(uri.data(), uri.size());
  }
  return credentials;
}

}  // namespace croft::control::api
