// Serves the requests of one connection, one after another, until either side ends it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "control/gateway/connection.h"
#include "control/gateway/exchange.h"

namespace croft::control::gateway {

boost::asio::awaitable<void> Serve(std::shared_ptr<Connection> connection,
                                   const Environment& environment);

}  // namespace croft::control::gateway
