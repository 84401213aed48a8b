// The API over HTTPS for programs that speak no gRPC: unary methods as the Connect protocol has
// them (POST /croft.v1.SiteService/CreateSite with JSON), streams as lines of JSON, and pages such
// as /healthz. Two threads of its own; work that blocks runs on the services' executor. Constant
// after Start.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

#include "control/api/services.h"
#include "control/gateway/routes.h"
#include "control/identity/certificates.h"

namespace croft::control::gateway {

inline constexpr int kConnectionsMax = 512;

struct GatewayOptions {
  std::string host;  // "127.0.0.1"
  int port = 0;      // 0 takes a free one
  identity::CertifiedKey certificate;
  std::vector<Page> pages;  // beside /healthz and /openapi.json
};

class Gateway {
  struct Parts;
  struct Key {};

 public:
  // The services must outlive the gateway.
  static absl::StatusOr<std::unique_ptr<Gateway>> Start(GatewayOptions options,
                                                        const api::Services& services);
  // Breaks the connections.
  ~Gateway();

  Gateway(std::unique_ptr<Parts> parts, Key);

  int port() const;

 private:
  const std::unique_ptr<Parts> parts_;
};

}  // namespace croft::control::gateway
