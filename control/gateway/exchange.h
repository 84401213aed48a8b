// One call of a method, from its header to its answer: what every kind of it needs.
#pragma once

#include <memory>

#include "control/api/authorizer.h"
#include "control/api/services.h"
#include "control/gateway/connection.h"
#include "control/gateway/inbox.h"
#include "control/gateway/routes.h"
#include "control/gateway/terms.h"

namespace croft::control::gateway {

// What the gateway is made of; outlives its connections.
struct Environment {
  const Routes& routes;
  const api::Services services;
  std::shared_ptr<Door> door;
};

struct Exchange {
  const Environment& environment;
  const std::shared_ptr<Connection> connection;
  Terms terms;
  api::Credentials credentials;
};

}  // namespace croft::control::gateway
