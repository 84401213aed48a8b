// The gRPC server: one TLS port for operators (bearer token) and nodes (client certificate), with
// health and reflection. Started and stopped by main; the parts it serves must outlive it.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "control/api/services.h"
#include "control/identity/certificates.h"

namespace croft::control::api {

inline constexpr int kMessageBytesMax = 4 * 1024 * 1024;

struct ServerOptions {
  std::string address;  // "127.0.0.1:7443"; port 0 takes a free one
  identity::CertifiedKey certificate;
  std::string ca;  // PEM; what client certificates are verified against
};

class Server {
  struct Parts;
  struct Key {};

 public:
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options,
                                                       const Services& services);
  // Ends calls that are under way after a short while.
  ~Server();

  Server(std::unique_ptr<Parts> parts, Key);

  int port() const;

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace croft::control::api
